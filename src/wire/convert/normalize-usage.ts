import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { countOf } from "./usage.ts";

/** Token counts of one call in one vocabulary for all three dialects; null where nothing was reported. */
export interface NormalizedUsage {
  tokens_in: number | null;
  tokens_out: number | null;
  tokens_reasoning: number | null;
  tokens_total: number | null;
  cached_tokens: number | null;
  cache_creation_tokens: number | null;
  cache_hit: boolean | null;
}

function first(...values: unknown[]): number | null {
  for (const value of values) {
    const count = countOf(value);
    if (count !== null) return count;
  }
  return null;
}

const inside = (usage: JsonObject, group: string, name: string): unknown => {
  const details = usage[group];
  return isObject(details) ? details[name] : undefined;
};

/** Reads the usage of any dialect; a total that is missing is the sum of input and output. */
export function normalizeUsage(value: unknown): NormalizedUsage {
  const usage = isObject(value) ? value : {};
  const read = countOf(usage["cache_read_input_tokens"]);
  const created = countOf(usage["cache_creation_input_tokens"]);
  const input = promptSize(
    first(usage["input_tokens"], usage["prompt_tokens"]),
    (read ?? 0) + (created ?? 0),
  );
  const output = first(usage["output_tokens"], usage["completion_tokens"]);
  const cached = first(
    inside(usage, "prompt_tokens_details", "cached_tokens"),
    inside(usage, "prompt_tokens_details", "cached_input_tokens"),
    inside(usage, "input_tokens_details", "cached_tokens"),
    inside(usage, "input_tokens_details", "cached_input_tokens"),
    usage["cache_read_input_tokens"],
    usage["cached_input_tokens"],
  );
  return {
    tokens_in: input,
    tokens_out: output,
    tokens_reasoning: first(
      inside(usage, "output_tokens_details", "reasoning_tokens"),
      inside(usage, "completion_tokens_details", "reasoning_tokens"),
      usage["reasoning_output_tokens"],
    ),
    tokens_total: first(usage["total_tokens"]) ?? (input === null || output === null ? null : input + output),
    cached_tokens: cached,
    cache_creation_tokens: created,
    cache_hit: cached === null ? null : cached > 0,
  };
}

/** Only Anthropic reports `cache_*_input_tokens`, and it counts them beside the input; the others count them within. */
function promptSize(reported: number | null, besides: number): number | null {
  return reported === null && besides === 0 ? null : (reported ?? 0) + besides;
}
