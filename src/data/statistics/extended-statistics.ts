import { optionalPackage } from "../../base/door.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { DistinctCounter } from "./distinct-counter.ts";
import { numericContent } from "./metrics-file.ts";
import { NumericStatistic, type NumericSummary } from "./numeric-statistic.ts";

const SAMPLING_PARAMETERS = [
  "temperature",
  "top_p",
  "max_output_tokens",
  "max_tool_calls",
  "top_logprobs",
] as const;

export interface ExtendedSummary {
  uniqueCreateParams: number;
  uniqueUserMessages: number;
  /** The sampling parameters that occur in the rows. */
  samplingParameters: Record<string, NumericSummary>;
  /** Input length in tokens. Absent without a tokenizer. */
  tokens?: NumericSummary;
}

/** Statistics of a dataset that are not in its metrics file. */
export class ExtendedStatistics {
  private readonly params = new DistinctCounter();
  private readonly messages = new DistinctCounter();
  private readonly sampling = new Map<string, NumericStatistic>();
  private readonly tokens = new NumericStatistic();
  private readonly countTokens: ((text: string) => number) | undefined;

  constructor(countTokens?: (text: string) => number) {
    this.countTokens = countTokens;
  }

  observe(params: JsonObject): void {
    const text = JSON.stringify(params);
    this.params.add(text);
    for (const message of userMessages(params["input"])) this.messages.add(message);
    for (const name of SAMPLING_PARAMETERS) {
      const value = params[name];
      if (typeof value !== "number") continue;
      this.samplingStatistic(name).observe(value);
    }
    if (this.countTokens !== undefined) this.tokens.observe(this.countTokens(text));
  }

  /** Adds all rows of `other`. */
  merge(other: ExtendedStatistics): void {
    this.params.merge(other.params);
    this.messages.merge(other.messages);
    this.tokens.merge(other.tokens);
    for (const [name, statistic] of other.sampling) this.samplingStatistic(name).merge(statistic);
  }

  private samplingStatistic(name: string): NumericStatistic {
    const statistic = this.sampling.get(name) ?? new NumericStatistic();
    this.sampling.set(name, statistic);
    return statistic;
  }

  summary(): ExtendedSummary {
    return {
      uniqueCreateParams: this.params.size,
      uniqueUserMessages: this.messages.size,
      samplingParameters: Object.fromEntries(
        [...this.sampling].map(([name, statistic]) => [name, statistic.summary()]),
      ),
      tokens: this.countTokens && this.tokens.summary(),
    };
  }
}

/** The summary as JSON. */
export function extendedContent(summary: ExtendedSummary): Record<string, unknown> {
  const sampling = Object.entries(summary.samplingParameters);
  return {
    unique_create_params: summary.uniqueCreateParams,
    unique_user_messages: summary.uniqueUserMessages,
    sampling_parameters: Object.fromEntries(sampling.map(([name, value]) => [name, numericContent(value)])),
    ...(summary.tokens !== undefined && { tokens: numericContent(summary.tokens) }),
  };
}

/** Counts the tokens of OpenAI's models. */
export async function tokenCounter(): Promise<(text: string) => number> {
  const { countTokens } = await optionalPackage(
    "gpt-tokenizer",
    "Counting tokens",
    () => import("gpt-tokenizer"),
  );
  // Special tokens in rows are plain text.
  return (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
}

function* userMessages(input: unknown): Generator<string> {
  if (typeof input === "string") yield input;
  if (!Array.isArray(input)) return;
  for (const item of input as JsonObject[]) {
    if (item["role"] === "user")
      yield typeof item["content"] === "string" ? item["content"] : JSON.stringify(item["content"]);
  }
}
