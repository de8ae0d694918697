import { defineAgent, errorMessage, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  inputItems,
  isServerCallError,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  functionCalls,
  laxBool,
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  type Response,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { dumps, isObject, loadsPlain } from "nemo-gym/python";
import { z } from "zod";
import { isOverflow, withoutOldestExchange } from "./context.ts";

type StopReason = "done_tool" | "max_turns" | "max_time" | "max_output_tokens" | "tool_error" | "error";
const seconds = laxFloat().pipe(z.number().positive()).nullish();

/** What a run that ended with an error of the model throws, so that it is not scored. */
const failures = new WeakMap<object, unknown>();

/** Research with tools until the model calls the tool that ends the task. */
export default defineAgent({
  name: "FinanceAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Model calls; null: no limit. */
    max_steps: laxInt().nullish(),
    /** Seconds after which no further model call begins; null: no limit. */
    max_time_seconds: laxFloat().nullable(),
    /** What the model is told after an answer without a call. */
    no_tool_call_nudge: z.string(),
    /** Tools that end the task. */
    done_tools: z.array(z.string()).default(["submit_final_result"]),
    /** Types of tool errors (`Type: message`) that end the task. */
    abort_on_tool_error_types: z.array(z.string()),
    /** Seconds for one call. */
    model_call_timeout: seconds,
    tool_call_timeout: seconds,
    /** Forgets the oldest exchange if the context is too long. */
    truncate_on_overflow: laxBool().default(false),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { client } = server;
    const limits = callLimits(server.globalConfig);
    const startedAt = performance.now();
    const input = inputItems(params);
    const output: ResponseOutputItem[] = [];
    /** What the model still sees of the output. */
    let history: ResponseInputItem[] = [];
    let usage: Usage | null = null;
    let last: Response | undefined;
    let session = cookies;
    let steps = 0;
    let failure: unknown;
    const add = (...items: object[]) => {
      output.push(...(items as ResponseOutputItem[]));
      history.push(...(items as ResponseInputItem[]));
    };

    const ask = async () => {
      for (;;)
        try {
          return await callModel(client, {
            modelServer: config.model_server.name,
            params: { ...params, input: [...input, ...history] },
            ...{ rollout, signal },
            timeoutMs: milliseconds(config.model_call_timeout) ?? limits.modelCallMs,
          });
        } catch (error) {
          signal.throwIfAborted();
          const shorter =
            config.truncate_on_overflow && isOverflow(error) ? withoutOldestExchange(history) : undefined;
          if (!shorter) throw error;
          history = shorter;
        }
    };
    const runTool = async (name: string, given: string): Promise<string> => {
      try {
        const body = given === "" ? {} : loadsPlain(given);
        rollout.onStage("tool", name);
        const timeoutMs = milliseconds(config.tool_call_timeout) ?? limits.toolCallMs;
        const options = { cookies: session, signal, timeoutMs, timeoutKey: "tool_call_timeout" };
        const path = `${rollout.prefix}/${encodeURIComponent(name)}`;
        const reply = await client.post(config.resources_server.name, path, body, options);
        session = mergeCookies(session, reply.cookies);
        return reply.text();
      } catch (error) {
        signal.throwIfAborted();
        return dumps({ error: errorMessage(error) });
      }
    };

    const step = async (): Promise<StopReason | undefined> => {
      const limit = config.max_time_seconds;
      if (limit !== null && performance.now() - startedAt > limit * 1000) return "max_time";
      if (config.max_steps != null && steps >= config.max_steps) return "max_turns";
      steps++;
      try {
        last = (await ask()).response;
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
        return "error";
      }
      usage = accumulateUsage(usage, last.usage);
      add(...last.output);
      if (last.incomplete_details?.reason === "max_output_tokens") return "max_output_tokens";
      const calls = functionCalls(last);
      if (calls.length === 0) add({ role: "user", content: config.no_tool_call_nudge, type: "message" });
      for (const { name, call_id, arguments: given } of calls) {
        const text = await runTool(name, given);
        add({ type: "function_call_output", call_id, output: text });
        if (config.done_tools.includes(name)) return "done_tool";
        if (config.abort_on_tool_error_types.some((type) => errorOf(text)?.startsWith(`${type}:`)))
          return "tool_error";
      }
      return undefined;
    };

    let reason: StopReason | undefined;
    while (reason === undefined) reason = await step();
    const metadata = { ...last?.metadata, stop_reason: reason, steps: String(steps) };
    const response = { ...(last ?? EMPTY), output, usage, metadata } as Response & JsonObject;
    if (failure !== undefined) failures.set(response, failure);
    return { response, cookies: session };
  },
  async run(args) {
    const { row, params, cookies, respond } = args;
    const body = { ...row, responses_create_params: materializeCreateParams(params) };
    const seeded = await seedSession(args, body, cookies);
    const { response, cookies: session } = await respond(params, seeded.cookies);
    // A model that could not be asked is a failure. The original scores what there is.
    const failure = failures.get(response);
    if (failure !== undefined && !(isServerCallError(failure) && isOverflow(failure))) throw failure;
    const verified = await verifyRollout(args, { ...body, response: materializeResponse(response) }, session);
    return verified.json() as JsonObject;
  },
});

/** The response of a run without a model call. */
const EMPTY = {
  ...{ id: "resp_none", object: "response", created_at: 0, model: "none" },
  ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [] },
};

const milliseconds = (value: number | null | undefined) => (value == null ? undefined : value * 1000);

/** The error that a tool reports, also inside the text of its `results`. */
function errorOf(text: string): string | undefined {
  try {
    const value = loadsPlain(text);
    if (!isObject(value)) return undefined;
    if (typeof value["error"] === "string") return value["error"];
    return typeof value["results"] === "string" ? errorOf(value["results"]) : undefined;
  } catch {
    return undefined;
  }
}
