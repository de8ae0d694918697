import { callServer, defineAgent, HttpError, type JsonObject } from "nemo-gym";
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
  laxBool,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  outputText,
  parseCreateParams,
  type Response,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";

/** Closing an environment has its own time limit, because the signal of the rollout may already be aborted. */
const CLOSE_LIMIT_MS = 10_000;
const item = z.looseObject({ type: z.string().default("message") });
const Seeded = z.looseObject({ env_id: z.string(), obs: z.array(item).min(1), tools: z.array(z.unknown()) });
const Stepped = z.looseObject({ obs: z.array(item), done: laxBool().default(false) });

/** Plays a scenario of ToolSandbox: the server runs the tools and plays the user, and scores when it is closed. */
export default defineAgent({
  name: "ToolSandboxAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Maximum number of model turns per scenario. */
    max_steps: laxInt().default(30),
    /** Whether the output is a list of turns, each with everything before it, instead of a list of items. */
    return_transitions: laxBool().default(false),
  }),
  async responses() {
    throw new HttpError(501, "toolsandbox_agent plays whole scenarios: post a row to /run.");
  },
  async run({ row, params: given, cookies: first, config, server, rollout, signal }) {
    const { client } = server;
    const environment = config.resources_server.name;
    const limits = callLimits(server.globalConfig);
    let cookies = first;
    const ask = async (
      path: string,
      body: JsonObject,
      stage: "seed" | "tool" | "verify",
      stop: AbortSignal = signal,
    ) => {
      rollout.onStage(stage, path);
      const reply = await callServer(client, {
        server: environment,
        path: `${rollout.prefix}${path}`,
        body,
        stage,
        signal: stop,
        cookies,
        timeoutMs: limits.toolCallMs,
        timeoutKey: "tool_call_timeout_seconds",
      });
      cookies = mergeCookies(cookies, reply.cookies);
      return reply.json();
    };
    const seed = { task_idx: row["task_idx"] };
    const { env_id, obs, tools } = read(Seeded, await ask("/seed_session", seed, "seed"), environment);
    const params = parseCreateParams({ ...given, tools }, ["seed_session"]);
    const input = [...inputItems(params), ...obs] as ResponseInputItem[];
    const produced: ResponseInputItem[] = [];
    const transitions: ResponseInputItem[][] = [];
    let usage: Usage | null = null;
    let last: Response | undefined;
    try {
      for (let step = 1; step <= config.max_steps; step++) {
        const turn = await callModel(client, {
          modelServer: config.model_server.name,
          params: { ...params, input: [...input, ...produced] },
          rollout,
          signal,
          timeoutMs: limits.modelCallMs,
        });
        last = turn.response;
        usage = accumulateUsage(usage, last.usage);
        const calls = last.output.filter((each) => each.type === "function_call");
        const said = last.output.some((each) => each.type === "message");
        // As in the original, a turn with neither is not part of the output.
        if (calls.length === 0 && !said) break;
        produced.push(...(last.output as ResponseInputItem[]));
        const text = calls.length > 0 ? null : outputText(last);
        const body = { env_id, function_calls: calls as unknown as JsonObject[], text };
        const stepped = read(Stepped, await ask("/step", body, "tool"), environment);
        produced.push(...(stepped.obs as unknown as ResponseInputItem[]));
        transitions.push([...input, ...produced]);
        if (stepped.done) break;
      }
    } finally {
      await ask("/close", { env_id }, "tool", AbortSignal.timeout(CLOSE_LIMIT_MS));
    }
    const output = produced as unknown as ResponseOutputItem[];
    const response = {
      ...materializeResponse({ ...last, output, usage } as Response),
      ...(config.return_transitions && { output: transitions }),
      env_id,
      group_id: String(row["task_idx"] ?? ""),
      contains_transitions: config.return_transitions,
    };
    const { tools: _, ...asked } = materializeCreateParams(params);
    const result = { ...row, responses_create_params: { ...asked, input, tools }, response };
    if (config.skip_verification)
      return { ...result, reward: config.skip_verification_reward, verification_skipped: true };
    return (await ask("/verify", result, "verify")) as JsonObject;
  },
});

function read<Schema extends z.ZodType>(schema: Schema, reply: unknown, server: string): z.output<Schema> {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const message = `${server} does not answer as a ToolSandbox server: ${z.prettifyError(parsed.error)}`;
  throw new HttpError(502, message, { failure: { class: "invalid_response", retryable: false, message } });
}
