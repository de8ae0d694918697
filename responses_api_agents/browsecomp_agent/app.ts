import { defineAgent, errorMessage, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  inputItems,
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
  outputText,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Usage,
} from "nemo-gym/openai";
import { dumps, isObject, strip } from "nemo-gym/python";
import { z } from "zod";
import { NOTES, Progress, RESET_SOON } from "./progress.ts";
import { lastRounds, withHiddenOutputs } from "./rounds.ts";

const count = laxInt().pipe(z.number().min(0));

/** A long search that forgets old rounds when the context of the model fills. */
export default defineAgent({
  name: "BrowsecompAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    max_steps: laxInt().pipe(z.number().min(1)).default(400),
    /** Tool results that the model still sees; older ones are hidden. */
    keep_rounds: count.default(9999),
    /** Whether results say how many turns remain. */
    nudge_steps: laxBool().default(true),
    /** A reset follows a turn with more input tokens than this share of the context, or than `context_reset_tokens`. */
    max_context_tokens: count.default(196_608),
    context_reset_pct: laxFloat().default(0.3),
    context_reset_tokens: count.default(0),
    context_reset_keep_rounds: count.default(3),
    max_reset_count: count.nullish(),
    /** Calls until the last message has a text. */
    max_run_retries: laxInt().pipe(z.number().min(1)).default(1),
    /** Whether the model keeps a board of its progress, which survives resets. */
    progress: laxBool().default(false),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { client } = server;
    const limits = callLimits(server.globalConfig);
    const progress = config.progress ? new Progress() : undefined;
    const threshold =
      config.context_reset_tokens || Math.floor(config.max_context_tokens * config.context_reset_pct);
    const tools = progress ? progress.withTool(params.tools ?? []) : params.tools;
    let input = progress ? progress.show(inputItems(params)) : inputItems(params);
    /** Everything that happened, and what the model still sees of it. */
    const output: ResponseOutputItem[] = [];
    let history: ResponseInputItem[] = [];
    let session = cookies;
    let usage: Usage | null = null;
    let last: Response | undefined;
    const counts = { reset_count: 0, num_tool_calls: 0, pre_reset_warning_steps: [] as number[] };
    let mustReset = false;

    const add = (...items: object[]) => {
      output.push(...(items as ResponseOutputItem[]));
      history.push(...(items as ResponseInputItem[]));
    };
    const reset = () => {
      counts.reset_count++;
      history = lastRounds(history, config.context_reset_keep_rounds);
      if (progress) input = progress.show(inputItems(params));
    };
    const mayReset = () => config.max_reset_count == null || counts.reset_count < config.max_reset_count;
    const runTool = async (name: string, given: string): Promise<string> => {
      let body: unknown;
      try {
        body = JSON.parse(given || "{}");
      } catch (error) {
        return dumps({ error: `The arguments are not JSON: ${errorMessage(error)}` });
      }
      if (progress && name === Progress.TOOL) return progress.update(body);
      rollout.onStage("tool", name);
      const options = {
        cookies: session,
        signal,
        timeoutMs: limits.toolCallMs,
        timeoutKey: "tool_call_timeout_seconds",
      };
      const path = `${rollout.prefix}/${encodeURIComponent(name)}`;
      const reply = await client.post(config.resources_server.name, path, body, options);
      session = mergeCookies(session, reply.cookies);
      return resultOf(reply.text());
    };

    for (let step = 1; step <= config.max_steps; step++) {
      const visible = withHiddenOutputs(history, config.keep_rounds);
      const request = {
        ...params,
        input: [...input, ...visible],
        ...(tools && { tools }),
      } as ResponseCreateParams;
      const modelServer = config.model_server.name;
      const asked = { modelServer, params: request, rollout, signal, timeoutMs: limits.modelCallMs };
      const { response } = await callModel(client, asked);
      const isFull = threshold > 0 && (response.usage?.input_tokens ?? 0) > threshold && mayReset();
      if (isFull && !progress) {
        // The answer to a full context is discarded, and the model is asked again.
        reset();
        continue;
      }
      last = response;
      usage = accumulateUsage(usage, response.usage);
      add(...response.output);
      const calls = functionCalls(response);
      if (response.incomplete_details?.reason === "max_output_tokens") break;
      if (calls.length === 0 && strip(outputText(response)) !== "") break;
      const results: { call_id: string; text: string }[] = [];
      for (const { name, call_id, arguments: given } of calls) {
        const nudge = config.nudge_steps
          ? `\n\n[${config.max_steps - step} turns remaining out of ${config.max_steps}]`
          : "";
        results.push({ call_id, text: (await runTool(name, given)) + nudge });
        counts.num_tool_calls++;
      }
      const end = results.at(-1);
      if (end) end.text += noteAfter(step, config);
      const warns: boolean = isFull && !mustReset && end !== undefined;
      if (warns && end) {
        // The model gets one turn to write down what it needs.
        end.text += `\n\n${RESET_SOON}`;
        counts.pre_reset_warning_steps.push(step);
      }
      for (const { call_id, text } of results) add({ type: "function_call_output", call_id, output: text });
      if (mustReset) reset();
      mustReset = warns;
    }
    progress?.recover(output);
    const response = { ...(last ?? EMPTY), output, usage, ...counts } as Response & JsonObject;
    return { response, cookies: session };
  },
  async run(args) {
    const { row, params, cookies, config, respond } = args;
    const body = { ...row, responses_create_params: materializeCreateParams(params) };
    const seeded = await seedSession(args, body, cookies);
    let answered = await respond(params, seeded.cookies);
    for (let attempt = 1; attempt < config.max_run_retries && isEmpty(answered.response); attempt++)
      answered = await respond(params, answered.cookies);
    const { reset_count, num_tool_calls, pre_reset_warning_steps } = answered.response;
    const response = {
      ...materializeResponse(answered.response),
      ...{ reset_count, num_tool_calls, pre_reset_warning_steps },
    };
    return (await verifyRollout(args, { ...body, response }, answered.cookies)).json() as JsonObject;
  },
});

/** The response of a run in which every answer was discarded. */
const EMPTY = {
  ...{ id: "resp_none", object: "response", created_at: 0, model: "none" },
  ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [] },
};

/** What the model reads: the text of `results_string`, or the whole answer of the tool. */
function resultOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
    if (!isObject(value)) return text;
    const { results_string: result, ...others } = value;
    return typeof result === "string" && Object.keys(others).length === 0 ? result : text;
  } catch {
    return text;
  }
}

/** A reminder after a quarter, a half and seven eighths of the turns. */
function noteAfter(
  step: number,
  { max_steps, nudge_steps }: { max_steps: number; nudge_steps: boolean },
): string {
  const places = [Math.floor(max_steps / 4), Math.floor(max_steps / 2), Math.floor(max_steps * 0.875)];
  const note = NOTES[places.lastIndexOf(step)];
  return nudge_steps && note !== undefined ? `\n\n\n\n\n${note}` : "";
}

function isEmpty({ output }: Response): boolean {
  const last = output.findLast((item) => item.type === "message");
  return strip(outputText({ output: last ? [last] : [] }).replace(/<think>.*?<\/think>/gs, "")) === "";
}
