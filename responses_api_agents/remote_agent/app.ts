import { Deadline, defineAgent, errorMessage, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  type Cookies,
  callLimits,
  EmptyTurns,
  inputItems,
  maxEmptyTurns,
  mergeCookies,
  resourcesServerRef,
  runToolCall,
  Semaphore,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  type FunctionCall,
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { z } from "zod";
import { failureRow, withoutRoutingKeys } from "./failure-row.ts";
import { RemoteService } from "./remote-service.ts";
import { SampledWarnings } from "./sampled-warnings.ts";

/** The address of the service. Error messages never contain a rejected value, because it may contain a password. */
const baseUrl = z.string().transform((given, context) => {
  const text = given.trim().replace(/\/+$/, "");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem =
    !url || !/^https?:$/.test(url.protocol)
      ? "must be an absolute http:// or https:// URL"
      : url.username || url.password
        ? "must not hold credentials (user:password@host): give them to the service by its own config"
        : /[?#]/.test(text)
          ? "must not have a query or fragment: /v1/responses is appended to it"
          : undefined;
  if (problem === undefined) return text;
  context.addIssue(problem);
  return z.NEVER;
});

/** An agent on another machine, behind one `POST /v1/responses`; tool calls without an output are run here. */
export default defineAgent({
  name: "RemoteAgent",
  config: agentConfig.extend({
    agent_base_url: baseUrl,
    resources_server: resourcesServerRef,
    concurrency: laxInt().default(32),
    remote_responses_timeout_secs: laxFloat().default(1800),
    run_timeout_secs: laxFloat().default(2100),
    max_steps: laxInt().nullish(),
    max_empty_turns: maxEmptyTurns,
  }),
  start: ({ config }) => ({
    service: new RemoteService(config.agent_base_url, config.remote_responses_timeout_secs * 1000),
    slots: new Semaphore(config.concurrency),
    warn: new SampledWarnings(),
  }),
  stop: (_server, state) => state.service.close(),

  async responses({ params, cookies, config, server, rollout, signal, state }) {
    const { client } = server;
    const timeoutMs = callLimits(server.globalConfig).toolCallMs;
    const resourcesServer = config.resources_server.name;
    const tools = { client, resourcesServer, rollout, signal, timeoutMs, tools: params.tools };
    const input = inputItems(params);
    const produced: ResponseOutputItem[] = [];
    let usage: Usage | null = null;
    let resourceCookies = cookies;
    let serviceCookies: Cookies = {};
    let last: Response;
    const emptyTurns = new EmptyTurns(config.max_empty_turns);
    for (let step = 1; ; step++) {
      rollout.onStage("model", "remote agent");
      const turn = await state.service.respond(
        { ...params, input: [...input, ...produced] },
        serviceCookies,
        signal,
      );
      last = turn.response;
      serviceCookies = mergeCookies(serviceCookies, turn.cookies);
      produced.push(...last.output);
      usage = accumulateUsage(usage, last.usage);
      if (last.incomplete_details) break;
      const open = openCalls(last.output);
      if (open.length === 0 && last.output.some(isAnswer)) break;
      if (emptyTurns.isOver(last.output)) {
        state.warn.tell("empty turns", emptyTurns.note, server.log);
        const response = emptyTurns.ended({ ...last, output: produced, usage });
        return { response, cookies: resourceCookies };
      }
      for (const call of open) {
        const done = await runToolCall(call, resourceCookies, tools);
        resourceCookies = done.cookies;
        produced.push(done.output);
      }
      if (config.max_steps && step >= config.max_steps) break;
    }
    return { response: { ...last, output: produced, usage }, cookies: resourceCookies };
  },

  async run(args) {
    const { row: given, params, cookies, config, server, signal, respond, state } = args;
    const row = withoutRoutingKeys(given);
    const warn = (kind: string, text: string) => state.warn.tell(kind, text, server.log);
    if (row["skills_ref"]) warn("skills", "skills_ref is ignored: a remote agent brings its own skills");
    const body = { ...row, responses_create_params: materializeCreateParams(params) };
    const attempt = async (stop: AbortSignal): Promise<JsonObject> => {
      const run = { ...args, signal: stop };
      const seeded = await seedSession(run, body, cookies);
      const { response, cookies: after } = await respond(params, seeded.cookies, stop);
      if (!response.usage)
        warn("usage", "the service reports no usage: token metrics of its rollouts stay empty");
      const verified = await verifyRollout(run, { ...body, response: materializeResponse(response) }, after);
      return verified.json() as JsonObject;
    };
    // Waiting for a free slot does not count against the rollout's time.
    return state.slots.run(async () => {
      const deadline = new Deadline(config.run_timeout_secs * 1000, signal);
      try {
        return await attempt(deadline.signal);
      } catch (error) {
        // The caller has disconnected or the run is over; the remote agent did not fail.
        if (signal.aborted) throw error;
        const cause = deadline.passed
          ? new Error(`the run took longer than ${config.run_timeout_secs} s`)
          : error;
        warn("failure", `a rollout failed: ${errorMessage(cause)}`);
        return failureRow(body, cause);
      } finally {
        deadline.clear();
      }
    }, signal);
  },
});

const isAnswer = (item: ResponseOutputItem): boolean =>
  item.type === "message" && (item.role ?? "assistant") === "assistant";

/** Calls without an output in the same response; for several calls with one id the last one is used. */
function openCalls(output: readonly ResponseOutputItem[]): FunctionCall[] {
  const answered = new Set(
    output.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])),
  );
  const open = new Map<string, FunctionCall>();
  for (const item of output)
    if (item.type === "function_call" && !answered.has(item.call_id)) open.set(item.call_id, item);
  return [...open.values()];
}
