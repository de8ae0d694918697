import {
  callLimits,
  callModel,
  defineAgent,
  inputItems,
  isObserved,
  loopAgentConfig,
  runToolCall,
  TrajectoryRecorder,
} from "nemo-gym";
import {
  accumulateUsage,
  lastAssistantText,
  type Response,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { reasoningText, wantsAnotherTurn } from "./turns.ts";

/** The loop everything else imitates: ask the model, run its tool calls in order, until it answers. */
export default defineAgent({
  name: "SimpleAgent",
  config: loopAgentConfig,
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { client, globalConfig } = server;
    const recorder = isObserved(globalConfig) ? new TrajectoryRecorder() : undefined;
    const modelServer = config.model_server.name;
    const limits = callLimits(globalConfig);
    const tools = {
      client,
      resourcesServer: config.resources_server.name,
      rollout,
      signal,
      timeoutMs: limits.toolCallMs,
      recorder,
    };
    const input = inputItems(params);
    const produced: ResponseOutputItem[] = [];
    let usage: Usage | null = null;
    let resourceCookies = cookies;
    let modelCookies: typeof cookies | undefined;
    let last: Response;
    for (let step = 1; ; step++) {
      const turn = await callModel(client, {
        modelServer,
        params: { ...params, input: [...input, ...produced] },
        rollout,
        signal,
        timeoutMs: limits.modelCallMs,
        // Replaying the model server's cookie keeps a conversation on one replica.
        ...(modelCookies && { cookies: modelCookies }),
      });
      last = turn.response;
      modelCookies = turn.cookies;
      const { output } = last;
      produced.push(...output);
      usage = accumulateUsage(usage, last.usage);
      recorder?.modelTurn({
        question: step === 1 ? lastUserText(input) : null,
        answer: lastAssistantText(last) || null,
        reasoning: reasoningText(output),
        responseId: last.id,
        modelServer,
      });
      // A truncated turn may hold half a call: nothing of it is run.
      if (last.incomplete_details) break;
      const calls = output.filter((item) => item.type === "function_call");
      if (!wantsAnotherTurn(output, calls.length)) break;
      for (const call of calls) {
        const done = await runToolCall(call, resourceCookies, tools);
        resourceCookies = done.cookies;
        produced.push(done.output);
      }
      if (config.max_steps && step >= config.max_steps) break;
    }
    const response: Response & Record<string, unknown> = { ...last, output: produced, usage };
    if (recorder) response["_ng_trajectory"] = recorder.finish(response, input);
    return { response, cookies: { ...resourceCookies, ...modelCookies } };
  },
});

function lastUserText(input: ReturnType<typeof inputItems>): string | null {
  const message = input.findLast((item) => "role" in item && item.role === "user");
  const content = message && "content" in message ? message.content : null;
  return typeof content === "string" ? content : content ? JSON.stringify(content) : null;
}
