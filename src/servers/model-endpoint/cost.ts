import { processWide } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { normalizeUsage } from "../../wire/convert/door.ts";
import type { ChatCompletion, Response } from "../../wire/schemas/door.ts";
import type { ProviderReply } from "./provider-call.ts";
import { ProviderError } from "./provider-error.ts";
import type { Price } from "./settings.ts";

const TOKENS_PER_PRICE = 1_000_000;

/**
 * Cost of one call in dollars: the value that the endpoint reports, else the price of its tokens; null when neither is
 * known.
 */
export function costOf(
  usage: unknown,
  price: Price | undefined,
  headers: Readonly<Record<string, string | string[] | undefined>> = {},
): number | null {
  const stated = statedCost(usage, headers);
  if (stated !== null || price === undefined || !isObject(usage)) return stated;
  const { tokens_in, tokens_out, cached_tokens, cache_creation_tokens } = normalizeUsage(usage);
  if (tokens_in === null && tokens_out === null) return null;
  const cached = Math.min(cached_tokens ?? 0, tokens_in ?? 0);
  const written = Math.min(cache_creation_tokens ?? 0, (tokens_in ?? 0) - cached);
  const fresh = (tokens_in ?? 0) - cached - written;
  const total =
    fresh * price.input +
    cached * (price.cached_input ?? price.input) +
    written * (price.cache_write ?? price.input) +
    (tokens_out ?? 0) * price.output;
  return total / TOKENS_PER_PRICE;
}

/** The cost that some endpoints report: OpenRouter and DeepInfra in the usage, LiteLLM in a header. */
function statedCost(
  usage: unknown,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number | null {
  const inUsage = isObject(usage) ? (usage["cost"] ?? usage["estimated_cost"]) : undefined;
  if (typeof inUsage === "number" && inUsage >= 0) return inUsage;
  const inHeader = headers["x-litellm-response-cost"];
  const amount = typeof inHeader === "string" && inHeader !== "" ? Number(inHeader) : Number.NaN;
  return amount >= 0 ? amount : null;
}

/** Adds up the cost of calls and stops them when the budget is spent. Running calls are still paid for. */
export class CostMeter {
  readonly limit: number | null;
  readonly #what: string;
  readonly #listeners = new Set<(cost: number) => void>();
  #spent = 0;

  constructor(limit: number | null, what: string) {
    this.limit = limit;
    this.#what = what;
  }

  get spent(): number {
    return this.#spent;
  }

  add(cost: number): void {
    this.#spent += cost;
    for (const listener of this.#listeners) listener(cost);
  }

  /** Calls the listener for every cost that is added in this process. */
  subscribe(listener: (cost: number) => void): void {
    this.#listeners.add(listener);
  }

  /** Sets the total, including the spending of other processes. */
  correct(spent: number): void {
    this.#spent = spent;
  }

  /** Throws when the budget is spent. The error is not retried. */
  check(): void {
    if (this.limit === null || this.#spent < this.limit) return;
    throw new ProviderError({
      class: "budget_exhausted",
      retryable: false,
      message: `the budget of ${this.#what} is spent: $${this.#spent.toFixed(4)} of $${this.limit}`,
    });
  }
}

/** The key of the run's meter. */
export const RUN_METER = "run";

const runMeters = processWide("meters", () => new WeakMap<object, CostMeter>());

/** The meter of a run, which all its servers share: `max_cost` at the top of the config. */
export function runMeter(globalConfig: Readonly<Record<string, unknown>>): CostMeter {
  let meter = runMeters.get(globalConfig);
  if (!meter) {
    meter = new CostMeter(dollarsOf(globalConfig["max_cost"]), "the run (max_cost)");
    runMeters.set(globalConfig, meter);
  }
  return meter;
}

/** Rejects a value that is not a number of dollars, because it would not limit anything. */
function dollarsOf(given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const dollars = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof dollars === "number" && dollars >= 0) return dollars;
  throw new GymError(
    "PROVIDER_MAX_COST",
    `max_cost must be a number of dollars, not ${JSON.stringify(given) ?? String(given)}.`,
  );
}

/**
 * Adds to the usage of an answer the cost of the call, whether it came from the cache, the number of retries, and the
 * waiting time.
 */
function billed<T extends { usage?: object | null }>({
  value,
  cost,
  cached,
  retries,
  waitedMs,
}: ProviderReply<T>): T {
  if (cost === null && !cached && retries === 0 && waitedMs === 0) return value;
  const usage = value.usage && {
    ...value.usage,
    ...(cost !== null && { ng_cost: cost }),
    ...(cached && { ng_cache_hits: 1 }),
    ...(retries > 0 && { ng_retries: retries }),
    ...(waitedMs > 0 && { ng_waited_ms: waitedMs }),
  };
  return { ...value, ...(usage && { usage }), ...(cached && { ng_cache_hit: true }) };
}

/** The response of a call with its cost in `usage.ng_cost`, and `ng_cache_hit` if no call was made. */
export function billedResponse(reply: ProviderReply<Response>): Response {
  return billed(reply);
}

/** The chat completion of a call, with the same fields. */
export function billedCompletion(reply: ProviderReply<ChatCompletion>): ChatCompletion {
  return billed(reply);
}

const price = (input: number, output: number, cached_input?: number, cache_write?: number): Price => ({
  input,
  output,
  cached_input,
  cache_write,
});

/**
 * List prices in dollars per million tokens (input, output, cached input, cache writes), as published in April 2026.
 * Names are prefixes: `gpt-5-mini` also matches `gpt-5-mini-2025-08-07`. Prices change: `prices` in the config takes
 * precedence.
 */
const LIST_PRICES: Readonly<Record<string, Price>> = {
  "gpt-4o": price(2.5, 10, 1.25),
  "gpt-4o-mini": price(0.15, 0.6, 0.075),
  "gpt-4.1": price(2, 8, 0.5),
  "gpt-4.1-mini": price(0.4, 1.6, 0.1),
  "gpt-4.1-nano": price(0.1, 0.4, 0.025),
  "gpt-5": price(1.25, 10, 0.125),
  "gpt-5-mini": price(0.25, 2, 0.025),
  "gpt-5-nano": price(0.05, 0.4, 0.005),
  "gpt-5.1": price(1.25, 10, 0.125),
  "gpt-5.2": price(1.75, 14, 0.175),
  "gpt-5.4": price(2.5, 15, 0.25),
  "gpt-5.4-mini": price(0.75, 4.5, 0.075),
  "gpt-5.4-nano": price(0.2, 1.25, 0.02),
  o1: price(15, 60, 7.5),
  o3: price(2, 8, 0.5),
  "o3-mini": price(1.1, 4.4, 0.55),
  "o4-mini": price(1.1, 4.4, 0.275),
  "claude-3-5-haiku": price(0.8, 4, 0.08, 1),
  "claude-3-7-sonnet": price(3, 15, 0.3, 3.75),
  "claude-haiku-4-5": price(1, 5, 0.1, 1.25),
  "claude-sonnet-4": price(3, 15, 0.3, 3.75),
  "claude-sonnet-4-5": price(3, 15, 0.3, 3.75),
  "claude-sonnet-4-6": price(3, 15, 0.3, 3.75),
  "claude-opus-4-1": price(15, 75, 1.5, 18.75),
  "claude-opus-4": price(15, 75, 1.5, 18.75),
  "claude-opus-4-5": price(5, 25, 0.5, 6.25),
  "claude-opus-4-6": price(5, 25, 0.5, 6.25),
  "gemini-2.0-flash": price(0.1, 0.4, 0.025),
  "gemini-2.5-flash": price(0.3, 2.5, 0.03),
  "gemini-2.5-flash-lite": price(0.1, 0.4, 0.01),
};

/** Suffixes that are a version or a date, not another model's name: `gpt-5` does not match `gpt-5-mini`. */
const VERSION = /^(?:[-@:]?(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest|v\d+))?$/;

/** The list price of a model, also under a router's name such as `openai/gpt-4.1`; undefined when unknown. */
export function listPrice(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1);
  let best: string | undefined;
  for (const known of Object.keys(LIST_PRICES)) {
    if (!name.startsWith(known) || !VERSION.test(name.slice(known.length))) continue;
    if (best === undefined || known.length > best.length) best = known;
  }
  return best === undefined ? undefined : LIST_PRICES[best];
}
