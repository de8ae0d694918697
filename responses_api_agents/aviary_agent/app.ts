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
  type FunctionCall,
  laxBool,
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  parseCreateParams,
  type Response,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";

/** Closing an environment has its own time limit, because the signal of the rollout may already be aborted. */
const CLOSE_LIMIT_MS = 10_000;
const item = z.looseObject({ type: z.string().default("message"), is_env_state: z.boolean().optional() });
const Seeded = z.looseObject({ env_id: z.string(), obs: z.array(item), tools: z.array(z.unknown()) });
const Stepped = z.looseObject({
  obs: z.array(item),
  reward: laxFloat().default(0),
  done: laxBool().default(false),
});
type Observation = z.output<typeof item>;

/** Plays the episodes of an Aviary server: the environment runs the tool calls of each turn and decides when the episode is over. */
export default defineAgent({
  name: "AviaryAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Maximum number of model turns per episode; null means no limit. */
    max_steps: laxInt().nullable().default(null),
    /** Whether a response without a tool call ends the episode; otherwise it is sent to the environment. */
    done_if_no_tool_calls: laxBool().default(true),
    /** The episode ends when a model call used more tokens than this. */
    max_total_sequence_length: laxInt().nullable().default(null),
    /** Whether the model sees only the last description of the environment's state. */
    collapse_old_env_states: laxBool().default(false),
    old_env_state_message: z.string().default("[Previous environment state - hidden]"),
    /** Whether the output is a list of turns, each with everything before it, instead of a list of items. */
    return_transitions: laxBool().default(false),
  }),
  async responses() {
    throw new HttpError(501, "aviary_agent plays whole episodes: post a row to /run.");
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
    const opened = { ...row, responses_create_params: materializeCreateParams(given) };
    const { env_id, obs, tools } = read(Seeded, await ask("/seed_session", opened, "seed"), environment);
    const params = parseCreateParams({ ...given, tools }, ["seed_session"]);
    const input: Observation[] = [...(inputItems(params) as Observation[]), ...obs];
    const produced: Observation[] = [];
    const transitions: Observation[][] = [];
    let usage: Usage | null = null;
    let last: Response | undefined;
    try {
      for (let step = 1; ; step++) {
        const history = [...input, ...produced];
        const question = config.collapse_old_env_states ? collapsed(history, config) : history;
        const turn = await callModel(client, {
          modelServer: config.model_server.name,
          params: { ...params, input: question.map(withoutMark) },
          rollout,
          signal,
          timeoutMs: limits.modelCallMs,
        });
        last = turn.response;
        usage = accumulateUsage(usage, last.usage);
        produced.push(...(last.output as unknown as Observation[]));
        const calls = last.output.filter((each): each is FunctionCall => each.type === "function_call");
        // A truncated turn is not executed.
        let done = last.incomplete_details != null || (calls.length === 0 && config.done_if_no_tool_calls);
        if (!done) {
          const body = { env_id, action: calls as unknown as JsonObject[] };
          const stepped = read(Stepped, await ask("/step", body, "tool"), environment);
          produced.push(...stepped.obs);
          done = stepped.done;
        }
        transitions.push([...input, ...produced]);
        const limit = config.max_total_sequence_length;
        const isLong = limit !== null && (last.usage?.total_tokens ?? 0) > limit;
        if (done || isLong || (config.max_steps && step >= config.max_steps)) break;
      }
    } finally {
      await ask("/close", { env_id }, "tool", AbortSignal.timeout(CLOSE_LIMIT_MS));
    }
    const output = produced.map(withoutMark) as unknown as ResponseOutputItem[];
    const response = {
      ...materializeResponse({ ...last, output, usage } as Response),
      ...(config.return_transitions && { output: transitions }),
      env_id,
      group_id: String(row["task_idx"] ?? ""),
      contains_transitions: config.return_transitions,
    };
    const { tools: _, ...asked } = materializeCreateParams(params);
    const request = { ...asked, input: input.map(withoutMark), tools };
    const result = { ...row, responses_create_params: request, response };
    if (config.skip_verification)
      return { ...result, reward: config.skip_verification_reward, verification_skipped: true };
    return (await ask("/verify", result, "verify")) as JsonObject;
  },
});

function withoutMark({ is_env_state: _, ...plain }: Observation): ResponseInputItem {
  return plain as unknown as ResponseInputItem;
}

function collapsed(
  history: readonly Observation[],
  config: { old_env_state_message: string },
): Observation[] {
  const newest = history.findLastIndex((each) => each.is_env_state);
  return history.map((each, index) =>
    each.is_env_state && index !== newest ? { ...each, content: config.old_env_state_message } : each,
  );
}

function read<Schema extends z.ZodType>(schema: Schema, reply: unknown, server: string): z.output<Schema> {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const message = `${server} does not answer as an Aviary server: ${z.prettifyError(parsed.error)}`;
  throw new HttpError(502, message, { failure: { class: "invalid_response", retryable: false, message } });
}
