import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { coerceInt } from "../schemas/coerce.ts";
import { int, object, type Reader, reject } from "../schemas/readers.ts";

/** Token counts of a response. An unknown detail is null, never 0. */
export interface Usage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number | null };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number | null };
  total_tokens: number;
  /** Ours: cost of the calls in dollars, if the price is known. */
  ng_cost?: number;
  /** Ours: number of calls answered from the response cache. */
  ng_cache_hits?: number;
  /** Ours: number of calls, if the model server counted them for the agent. */
  ng_model_calls?: number;
  /** Ours: number of failed attempts that were retried; absent if there were none. */
  ng_retries?: number;
  /** Ours: milliseconds that the calls waited for the limits of the endpoint; absent if they did not wait. */
  ng_waited_ms?: number;
  /** Ours: policy versions at the start of the first call and at the end of the last, if the engine reports them. */
  ng_policy_version_start?: number;
  ng_policy_version_end?: number;
}

const SUMMED_KEYS = ["ng_cost", "ng_cache_hits", "ng_model_calls", "ng_retries", "ng_waited_ms"] as const;

type OwnUsage = Pick<
  Usage,
  (typeof SUMMED_KEYS)[number] | "ng_policy_version_start" | "ng_policy_version_end"
>;

/** Our own keys of one or more usages, added up. An unknown cost does not hide a known one. */
export function ownUsage(...usages: readonly unknown[]): OwnUsage {
  const own: OwnUsage = {};
  for (const usage of usages) {
    if (!isObject(usage)) continue;
    for (const key of SUMMED_KEYS) {
      const value = usage[key];
      if (typeof value === "number") own[key] = (own[key] ?? 0) + value;
    }
    const { ng_policy_version_start: start, ng_policy_version_end: end } = usage;
    if (typeof start === "number") own.ng_policy_version_start ??= start;
    if (typeof end === "number") own.ng_policy_version_end = end;
  }
  return own;
}

/** A count of a provider. Negative, fractional and boolean values count as missing. */
export function countOf(value: unknown): number | null {
  if (typeof value === "bigint") return value >= 0n ? Number(value) : null;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function firstCount(...values: unknown[]): number | null {
  for (const value of values) {
    const count = countOf(value);
    if (count !== null) return count;
  }
  return null;
}

const COUNTS = [
  "prompt_tokens",
  "completion_tokens",
  "input_tokens",
  "output_tokens",
  "total_tokens",
] as const;

/** Converts counts that an endpoint sent as text to numbers, for the usage of any API. Other values are unchanged. */
export function numericCounts<T>(usage: T): T {
  if (!isObject(usage)) return usage;
  const counts: JsonObject = {};
  for (const name of COUNTS) {
    const count = typeof usage[name] === "string" ? coerceInt(usage[name]) : undefined;
    if (typeof count === "number") counts[name] = count;
  }
  return Object.keys(counts).length === 0 ? usage : { ...usage, ...counts };
}

/** Totals are copied as reported, even negative ones. */
const totalOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

const detailsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/**
 * Converts the usage of a chat completion. Totals are copied, not recomputed. Null without a usage, or if a count is
 * missing and cannot be computed from the others, because a partial usage would look complete.
 */
export function usageFromChat(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const total = totalOf(usage["total_tokens"]);
  const prompt = totalOf(usage["prompt_tokens"]);
  const completion = totalOf(usage["completion_tokens"]);
  const rest = (other: number | undefined) =>
    total === undefined || other === undefined ? undefined : total - other;
  const input = prompt ?? rest(completion);
  const output = completion ?? rest(prompt);
  if (input === undefined || output === undefined) return null;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: firstCount(
        detailsOf(usage["prompt_tokens_details"])["cached_tokens"],
        usage["cached_input_tokens"],
        usage["cache_read_input_tokens"],
      ),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: firstCount(
        detailsOf(usage["completion_tokens_details"])["reasoning_tokens"],
        usage["reasoning_output_tokens"],
      ),
    },
    total_tokens: total ?? input + output,
    ...ownUsage(usage),
  };
}

const readTotals = object<Usage & JsonObject>(
  { input_tokens: int, output_tokens: int, total_tokens: int },
  "keep",
);

/** Reads the usage of a Response. Missing details become null, other keys are kept, and a chat usage is converted. */
export const readUsage: Reader<Usage> = (value, trail) => {
  if (!isObject(value)) return reject(trail, "dict_type", "Input should be a valid dictionary", value);
  if (value["input_tokens"] === undefined && value["prompt_tokens"] !== undefined) {
    // An incomplete usage counts as absent; readers accept null.
    return usageFromChat(value) as Usage;
  }
  const input = detailsOf(value["input_tokens_details"]);
  const output = detailsOf(value["output_tokens_details"]);
  return {
    ...readTotals(value, trail),
    input_tokens_details: { ...input, cached_tokens: countOf(input["cached_tokens"]) },
    output_tokens_details: { ...output, reasoning_tokens: countOf(output["reasoning_tokens"]) },
  };
};

/** A detail that is unknown in one turn is unknown in the sum. */
const addKnown = (left: number | null, right: number | null): number | null =>
  left === null || right === null ? null : left + right;

/** Adds the usage of a turn. A turn without usage changes nothing. */
export function accumulateUsage(total: Usage | null, turn: Usage | null | undefined): Usage | null {
  if (turn == null) return total;
  const { input_tokens_details: input, output_tokens_details: output } = turn;
  const cached = input?.cached_tokens ?? null;
  const reasoning = output?.reasoning_tokens ?? null;
  if (total === null) {
    return {
      ...turn,
      input_tokens_details: { ...input, cached_tokens: cached },
      output_tokens_details: { ...output, reasoning_tokens: reasoning },
    };
  }
  const { input_tokens_details: inputs, output_tokens_details: outputs } = total;
  return {
    ...total,
    input_tokens: total.input_tokens + turn.input_tokens,
    input_tokens_details: { ...inputs, cached_tokens: addKnown(inputs.cached_tokens ?? null, cached) },
    output_tokens: total.output_tokens + turn.output_tokens,
    output_tokens_details: {
      ...outputs,
      reasoning_tokens: addKnown(outputs.reasoning_tokens ?? null, reasoning),
    },
    total_tokens: total.total_tokens + turn.total_tokens,
    ...ownUsage(total, turn),
  };
}

const NOTHING: Usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** The sum of the usage of several turns; zeros if there are none. */
export function sumUsage(turns: Iterable<Usage>): Usage {
  let total = NOTHING;
  for (const turn of turns) total = accumulateUsage(total, turn) ?? total;
  return total === NOTHING ? structuredClone(NOTHING) : total;
}

/** Token counts of one call with the same names for all three APIs; null if not reported. */
export interface NormalizedUsage {
  tokens_in: number | null;
  tokens_out: number | null;
  tokens_reasoning: number | null;
  tokens_total: number | null;
  cached_tokens: number | null;
  cache_creation_tokens: number | null;
  cache_hit: boolean | null;
}

/** Reads the usage of any API. A missing total is the sum of input and output. */
export function normalizeUsage(value: unknown): NormalizedUsage {
  const usage = detailsOf(value);
  const promptDetails = detailsOf(usage["prompt_tokens_details"]);
  const inputDetails = detailsOf(usage["input_tokens_details"]);
  const read = countOf(usage["cache_read_input_tokens"]);
  const created = countOf(usage["cache_creation_input_tokens"]);
  const input = promptSize(
    firstCount(usage["input_tokens"], usage["prompt_tokens"]),
    (read ?? 0) + (created ?? 0),
  );
  const output = firstCount(usage["output_tokens"], usage["completion_tokens"]);
  const cached = firstCount(
    promptDetails["cached_tokens"],
    promptDetails["cached_input_tokens"],
    inputDetails["cached_tokens"],
    inputDetails["cached_input_tokens"],
    usage["cache_read_input_tokens"],
    usage["cached_input_tokens"],
  );
  return {
    tokens_in: input,
    tokens_out: output,
    tokens_reasoning: firstCount(
      detailsOf(usage["output_tokens_details"])["reasoning_tokens"],
      detailsOf(usage["completion_tokens_details"])["reasoning_tokens"],
      usage["reasoning_output_tokens"],
    ),
    tokens_total:
      countOf(usage["total_tokens"]) ?? (input === null || output === null ? null : input + output),
    cached_tokens: cached,
    cache_creation_tokens: created,
    cache_hit: cached === null ? null : cached > 0,
  };
}

/** Only Anthropic reports `cache_*_input_tokens`, in addition to the input tokens. Other APIs include cached tokens in the input. */
function promptSize(reported: number | null, besides: number): number | null {
  return reported === null && besides === 0 ? null : (reported ?? 0) + besides;
}
