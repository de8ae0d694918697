import { callModel, defineAgent, inputItems, loopAgentConfig } from "nemo-gym";
import { accumulateUsage, type ResponseOutputItem } from "nemo-gym/openai";
import { z } from "zod";

/** Answers, is asked to check the answer, and answers again. */
export default defineAgent({
  name: "SecondLook",
  config: loopAgentConfig.extend({ question: z.string().default("Check your answer and give it again.") }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const modelServer = config.model_server.name;
    const call = { modelServer, rollout, signal };
    const input = inputItems(params);
    const first = await callModel(server.client, { ...call, params: { ...params, input } });
    const asked = { role: "user" as const, content: config.question, type: "message" as const };
    const again = { ...params, input: [...input, ...first.response.output, asked] };
    const { response } = await callModel(server.client, { ...call, params: again, cookies: first.cookies });
    const output = [...first.response.output, asked as ResponseOutputItem, ...response.output];
    const usage = accumulateUsage(first.response.usage ?? null, response.usage);
    return { response: { ...response, output, usage }, cookies };
  },
});
