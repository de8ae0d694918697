import { randomBytes } from "node:crypto";
import { callServer, defineAgent, HttpError, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  type Cookies,
  callLimits,
  callModel,
  inputItems,
  isServerCallError,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  laxBool,
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseInputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";

const DEFAULT_MAX_STEPS = 10;

const info = z.record(z.string(), z.unknown()).default({});
const Reset = z.looseObject({ observation: z.string().nullish(), info });
const Step = z.looseObject({
  observation: z.string().nullish(),
  reward: laxFloat().default(0),
  terminated: laxBool().default(false),
  truncated: laxBool().default(false),
  info,
});
const ToolOutputs = z
  .array(z.object({ call_id: z.string(), output: z.union([z.string(), z.array(z.unknown())]) }))
  .default([]);

/** Multi-turn environments: after each model turn the environment returns an observation and a reward. */
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
    const turn = await callModel(server.client, { modelServer, params, cookies, rollout, signal, timeoutMs });
    return { response: { ...turn.response }, cookies: mergeCookies(cookies, turn.cookies) };
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
        timeoutKey: "tool_call_timeout_seconds",
      };
      const reply = await callServer(client, { ...call, cookies: environmentCookies });
      environmentCookies = mergeCookies(environmentCookies, reply.cookies);
      return reply.json();
    };

    const materialized = materializeCreateParams(params);
    const opened = await ask("/reset", { ...row, responses_create_params: materialized }, "seed");
    // From here on the environment holds resources, even if its response is invalid.
    const closes = supports(opened, "supports_explicit_close");
    const close = async () => {
      // The signal of the rollout may already be aborted, so closing has its own time limit.
      if (closes) await ask("/close", {}, "tool", AbortSignal.timeout(CLOSE_LIMIT_MS));
    };
    const input = inputItems(params);
    const history: ResponseInputItem[] = [];
    let usage: Usage | null = null;
    let modelCookies: Cookies | undefined;
    let reward = 0;
    let step = Step.parse({});
    let last: Response | undefined;
    try {
      const reset = read(Reset, opened, environment, "/reset");
      if (reset.observation) input.push(userMessage(reset.observation));
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
        const stepped = await ask(
          "/step",
          {
            ...row,
            responses_create_params: materialized,
            response: materializeResponse(last),
            ...(supports(opened, "supports_step_idempotency") && {
              _ng_step_request_id: randomBytes(16).toString("hex"),
            }),
          },
          "tool",
        ).catch(endAtMalformedAnswer);
        step = read(Step, stepped, environment, "/step");
        reward += step.reward;
        if (step.terminated || step.truncated) break;
        const outputs = read(ToolOutputs, step.info["tool_outputs"], environment, "/step info.tool_outputs");
        for (const { call_id, output } of outputs)
          history.push({ type: "function_call_output", call_id, output: output as string });
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
      responses_create_params: { ...materialized, input },
      response: last && materializeResponse({ ...last, output: history as Response["output"], usage }),
      reward,
      terminated: step.terminated,
      truncated: step.truncated || !step.terminated,
      info,
    };
  },

  /** Environments give a reward for each step, so there is nothing for `skip_verification` to skip. */
  async aggregateMetrics({ config, server, body, signal }) {
    const call = { server: config.resources_server.name, path: "/aggregate_metrics", body, signal };
    const reply = await callServer(server.client, { ...call, stage: "run", idempotent: true });
    return reply.json() as JsonObject;
  },
});

/** An answer that the environment cannot read is the model's mistake: the episode ends with the reward it has. */
function endAtMalformedAnswer(error: unknown): JsonObject {
  if (!isServerCallError(error) || error.info.class !== "malformed_answer") throw error;
  return { reward: 0, truncated: true, info: { malformed_answer: error.info.message } };
}

/** Whether the response to `/reset` announces a capability of the environment. */
const supports = (opened: unknown, what: string): boolean =>
  (opened as { info?: JsonObject } | null)?.info?.[what] === true;

/** Reads a response of the environment in its declared format; otherwise throws an error that names the environment and the position. */
function read<T>(schema: z.ZodType<T>, value: unknown, environment: string, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const position = issue && issue.path.length > 0 ? ` at ${issue.path.join(".")}` : "";
  const message = `${environment} answered ${what} with something else than it must${position}: ${issue?.message}`;
  throw new HttpError(502, message, {
    failure: { class: "tool_error", stage: "tool", retryable: false, message },
    cause: parsed.error,
  });
}

const CLOSE_LIMIT_MS = 30_000;

function userMessage(content: string): ResponseInputItem {
  return { role: "user", content, type: "message" };
}
