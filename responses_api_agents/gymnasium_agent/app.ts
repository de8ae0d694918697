import { randomBytes } from "node:crypto";
import {
  agentConfig,
  type Cookies,
  callLimits,
  callModel,
  callServer,
  defineAgent,
  inputItems,
  type JsonObject,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
} from "nemo-gym";
import {
  accumulateUsage,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseInputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";

const DEFAULT_MAX_STEPS = 10;

const Step = z.looseObject({
  observation: z.string().nullish(),
  reward: z.number().default(0),
  terminated: z.boolean().default(false),
  truncated: z.boolean().default(false),
  info: z.record(z.string(), z.unknown()).default({}),
});
const Reset = z.looseObject({
  observation: z.string().nullish(),
  info: z.record(z.string(), z.unknown()).default({}),
});
const ToolOutputs = z.array(z.object({ call_id: z.string(), output: z.string() })).catch([]);

/** Multi-turn environments: after each model turn the environment speaks, and pays. */
export default defineAgent({
  name: "GymnasiumAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    max_steps: laxInt().pipe(z.number().min(1)).default(DEFAULT_MAX_STEPS),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const modelServer = config.model_server.name;
    const timeoutMs = callLimits(server.globalConfig).modelCallMs;
    const turn = await callModel(server.client, { modelServer, params, rollout, signal, timeoutMs });
    return { response: { ...turn.response }, cookies: { ...cookies, ...turn.cookies } };
  },
  async run({ row, params, cookies, config, server, rollout, signal }) {
    const { client } = server;
    const environment = config.resources_server.name;
    const limits = callLimits(server.globalConfig);
    let environmentCookies: Cookies = cookies;
    const ask = async (
      path: string,
      body: JsonObject,
      stage: "seed" | "tool",
      stop: AbortSignal = signal,
    ) => {
      rollout.onStage(stage, path);
      const call = {
        server: environment,
        path: `${rollout.prefix}${path}`,
        body,
        stage,
        signal: stop,
        timeoutMs: limits.toolCallMs,
      };
      const reply = await callServer(client, { ...call, cookies: environmentCookies });
      environmentCookies = mergeCookies(environmentCookies, reply.cookies);
      return reply.json();
    };

    const materialized = materializeCreateParams(params);
    const reset = Reset.parse(await ask("/reset", { ...row, responses_create_params: materialized }, "seed"));
    const input = inputItems(params);
    if (reset.observation) input.push(userMessage(reset.observation));
    const finalParams = { ...materialized, input: reset.observation ? input : materialized.input };
    const close = async () => {
      if (reset.info["supports_explicit_close"] !== true) return;
      // The rollout's own signal may be what ended it: closing gets time of its own.
      await ask("/close", {}, "tool", AbortSignal.timeout(CLOSE_LIMIT_MS));
    };

    const history: ResponseInputItem[] = [];
    let usage: Usage | null = null;
    let modelCookies: Cookies | undefined;
    let reward = 0;
    let step = Step.parse({});
    let last: Response | undefined;
    try {
      for (let turn = 1; turn <= config.max_steps; turn++) {
        const answer = await callModel(client, {
          modelServer: config.model_server.name,
          params: { ...params, input: [...input, ...history] },
          rollout,
          signal,
          timeoutMs: limits.modelCallMs,
          ...(modelCookies && { cookies: modelCookies }),
        });
        last = answer.response;
        modelCookies = answer.cookies;
        usage = accumulateUsage(usage, last.usage);
        history.push(...last.output);
        step = Step.parse(
          await ask(
            "/step",
            {
              ...row,
              responses_create_params: materialized,
              response: materializeResponse(last),
              ...(reset.info["supports_step_idempotency"] === true && {
                _ng_step_request_id: randomBytes(16).toString("hex"),
              }),
            },
            "tool",
          ),
        );
        reward += step.reward;
        if (step.terminated || step.truncated) break;
        for (const { call_id, output } of ToolOutputs.parse(step.info["tool_outputs"])) {
          history.push({ type: "function_call_output", call_id, output });
        }
        if (step.observation) history.push(userMessage(step.observation));
      }
    } catch (error) {
      await close().catch((cleanUp: unknown) =>
        server.log.warn(`closing the environment failed: ${String(cleanUp)}`),
      );
      throw error;
    }
    const info = { ...step.info };
    await close().catch((error: Error) => {
      info["cleanup_warning"] = { operation: "close", error_type: error.name, message: error.message };
    });
    return {
      responses_create_params: finalParams,
      response: last && materializeResponse({ ...last, output: history as Response["output"], usage }),
      reward,
      terminated: step.terminated,
      truncated: step.truncated || !step.terminated,
      info,
    };
  },
});

const CLOSE_LIMIT_MS = 30_000;

function userMessage(content: string): ResponseInputItem {
  return { role: "user", content, type: "message" };
}
