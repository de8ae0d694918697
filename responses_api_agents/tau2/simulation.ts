import type { JsonObject } from "nemo-gym";
import { newId, type ResponseInputItem, type Usage } from "nemo-gym/openai";
import { dumps } from "nemo-gym/python";
import { z } from "zod";

const call = z.looseObject({
  id: z.string().default(""),
  name: z.string(),
  arguments: z.unknown().optional(),
});
const completion = z.looseObject({
  finish_reason: z.string().nullish(),
  message: z
    .looseObject({
      content: z.unknown().optional(),
      tool_calls: z.unknown().optional(),
      reasoning_content: z.string().nullish(),
      prompt_token_ids: z.array(z.number()).nullish(),
      generation_token_ids: z.array(z.number()).nullish(),
      generation_log_probs: z.array(z.number()).nullish(),
    })
    .nullish(),
});
const message = z.looseObject({
  role: z.string(),
  content: z.string().nullish(),
  tool_calls: z.array(call).nullish(),
  /** Of the result of a tool: the call that it answers. */
  id: z.string().nullish(),
  requestor: z.string().nullish(),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
  /** The answer of the model, or its first choice. */
  raw_data: z
    .union([z.looseObject({ choices: z.array(completion).min(1) }), completion])
    .nullish()
    .catch(null),
});
export type Message = z.output<typeof message>;
export type Completion = z.output<typeof completion>;

/** A simulation of tau2-bench, as far as it is read here. */
export const simulation = z.looseObject({
  termination_reason: z.string(),
  messages: z.array(message),
  duration: z.number().nullish(),
  reward_info: z.looseObject({ reward: z.number() }).nullish(),
});
export type Simulation = z.output<typeof simulation>;

export function completionOf({ raw_data: raw }: Message): Completion | undefined {
  if (raw == null) return undefined;
  return "choices" in raw && Array.isArray(raw.choices)
    ? (raw.choices[0] as Completion)
    : (raw as Completion);
}

/** What the agent was shown before its first own turn, and everything since, as items. Tools of the user are not shown to it. */
export function conversation(messages: readonly Message[]): {
  shown: ResponseInputItem[];
  output: ResponseInputItem[];
} {
  const visible = messages.filter(
    ({ role, requestor, tool_calls }) =>
      !(role === "tool" && requestor === "user") &&
      !(role === "user" && tool_calls != null && tool_calls.length > 0),
  );
  // The greeting is written by the benchmark.
  const start = visible.findIndex(({ role }) => role === "assistant") + 1;
  return {
    shown: visible.slice(0, start).flatMap(itemsOf),
    output: visible.slice(start).flatMap(itemsOf),
  };
}

function itemsOf(message: Message): ResponseInputItem[] {
  const { role, content, tool_calls, id } = message;
  if (role === "tool") return [{ type: "function_call_output", call_id: id ?? "", output: content ?? "" }];
  if (role !== "assistant") return [{ type: "message", role: "user", content: content ?? "" }];
  const raw = completionOf(message)?.message;
  const items: JsonObject[] = [];
  if (raw?.reasoning_content) {
    const summary = [{ type: "summary_text", text: raw.reasoning_content }];
    items.push({ type: "reasoning", id: newId("rs"), summary });
  }
  const calls = tool_calls ?? [];
  if (content || calls.length === 0)
    items.push({
      type: "message",
      id: newId("msg"),
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: content ?? "", annotations: [] }],
    });
  for (const { id: call_id, name, arguments: given } of calls)
    items.push({ type: "function_call", call_id, name, arguments: dumps(given ?? {}) });
  const { prompt_token_ids, generation_token_ids, generation_log_probs } = raw ?? {};
  if (prompt_token_ids && generation_token_ids && generation_log_probs)
    Object.assign(items.at(-1) ?? {}, { prompt_token_ids, generation_token_ids, generation_log_probs });
  return items as unknown as ResponseInputItem[];
}

/** The tokens of the agent's turns: their sum, and their spread over the turns (null without any). */
export function tokens(messages: readonly Message[]): { usage: Usage | null; fields: JsonObject } {
  const counted = messages.flatMap(({ role, usage }) => (role === "assistant" && usage ? [usage] : []));
  const fields: JsonObject = { num_agent_calls: counted.length };
  const sums = { prompt_tokens: 0, completion_tokens: 0 };
  for (const kind of ["prompt_tokens", "completion_tokens"] as const) {
    const values = counted.map((usage) => usage[kind]);
    sums[kind] = values.reduce((sum, value) => sum + value, 0);
    const isEmpty = values.length === 0;
    fields[`min_${kind}`] = isEmpty ? null : Math.min(...values);
    fields[`mean_${kind}`] = isEmpty ? null : sums[kind] / values.length;
    fields[`max_${kind}`] = isEmpty ? null : Math.max(...values);
  }
  if (counted.length === 0) return { usage: null, fields };
  const usage = {
    input_tokens: sums.prompt_tokens,
    input_tokens_details: { cached_tokens: null },
    output_tokens: sums.completion_tokens,
    output_tokens_details: { reasoning_tokens: null },
    total_tokens: sums.prompt_tokens + sums.completion_tokens,
  };
  return { usage, fields };
}
