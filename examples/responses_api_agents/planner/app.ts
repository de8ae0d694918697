import { allAssistantText, callServer, defineAgent, loopAgentConfig } from "nemo-gym";
import { callModel, inputItems, mergeCookies } from "nemo-gym/agents";
import { accumulateUsage, functionCalls, type Response, type ResponseOutputItem } from "nemo-gym/openai";
import { z } from "zod";

const DELEGATE = {
  type: "function" as const,
  name: "delegate",
  description: "Have a worker carry out one step and return its result.",
  parameters: {
    type: "object",
    properties: { step: { type: "string" } },
    required: ["step"],
    additionalProperties: false,
  },
  strict: true,
};
const Step = z.object({ step: z.string() });

/** Plans the steps and delegates them to another agent: its only tool is that agent's `/v1/responses`. */
export default defineAgent({
  name: "Planner",
  config: loopAgentConfig.extend({
    worker: z.object({ type: z.literal("responses_api_agents"), name: z.string() }),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { tools, ...asked } = params;
    /** The planner sees these items. `everything` also has the worker's calls, which are scored. */
    const known = inputItems(params);
    const everything: ResponseOutputItem[] = [];
    let usage: Response["usage"] = null;
    let session = cookies;
    for (let turn = 1; ; turn++) {
      const { response } = await callModel(server.client, {
        modelServer: config.model_server.name,
        params: { ...asked, input: [...known], tools: [DELEGATE] },
        rollout,
        signal,
      });
      known.push(...response.output);
      everything.push(...response.output);
      usage = accumulateUsage(usage ?? null, response.usage);
      const calls = functionCalls(response);
      if (calls.length === 0 || turn >= (config.max_steps ?? 10))
        return { response: { ...response, output: everything, usage }, cookies: session };
      for (const call of calls) {
        const step = stepOf(call.arguments);
        let result = 'Call delegate with {"step": "what to do"}.';
        if (step !== undefined) {
          const reply = await callServer(server.client, {
            server: config.worker.name,
            path: `${rollout.modelPrefix}/v1/responses`,
            body: { ...asked, tools, input: step },
            stage: "run",
            // The worker acts in the same session of the environment.
            cookies: session,
            signal,
          });
          const work = reply.json() as Response;
          session = mergeCookies(session, reply.cookies);
          usage = accumulateUsage(usage ?? null, work.usage);
          everything.push(...work.output.filter(({ type }) => type !== "message"));
          result = allAssistantText(work);
        }
        const output = { type: "function_call_output" as const, call_id: call.call_id, output: result };
        known.push(output);
        everything.push(output);
      }
    }
  },
});

/** The step of a call, or undefined if the arguments are invalid. */
function stepOf(text: string): string | undefined {
  try {
    return Step.parse(JSON.parse(text)).step;
  } catch {
    return undefined;
  }
}
