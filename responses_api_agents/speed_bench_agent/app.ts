import { defineAgent } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  inputItems,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  outputText,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";

/** Asks the user messages at the end of the input one after another, each with the answers to the earlier ones. */
export default defineAgent({
  name: "SpeedBenchAgent",
  config: agentConfig.extend({ resources_server: resourcesServerRef, model_server: modelServerRef }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const items = inputItems(params);
    const first = items.findLastIndex((item) => !isUser(item)) + 1;
    const input: ResponseInputItem[] = items.slice(0, first + 1);
    const questions = items.slice(first + 1);
    const output: ResponseOutputItem[] = [];
    let usage: Usage | null = null;
    let session = cookies;
    for (;;) {
      const { response, cookies: next } = await callModel(server.client, {
        modelServer: config.model_server.name,
        params: { ...params, input: [...input] },
        cookies: session,
        rollout,
        signal,
        timeoutMs: callLimits(server.globalConfig).modelCallMs,
      });
      session = mergeCookies(session, next);
      output.push(...response.output);
      usage = accumulateUsage(usage, response.usage);
      const question = questions.shift();
      if (question === undefined) return { response: { ...response, output, usage }, cookies: session };
      input.push({ role: "assistant", content: outputText(response), type: "message" }, question);
    }
  },
});

const isUser = (item: ResponseInputItem) => "role" in item && item.role === "user";
