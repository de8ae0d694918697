import { GymError } from "../errors.ts";
import { processWide } from "../process-wide.ts";
import { isObject } from "../python/json/json-object.ts";
import { normalizeUsage } from "../wire/convert/normalize-usage.ts";
import { ProviderError } from "./provider-error.ts";
import type { Price } from "./settings.ts";

const TOKENS_PER_PRICE = 1_000_000;

/** What one call cost in dollars: what the endpoint says, else by the price of its tokens; null when neither is known. */
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

/** Adds up what calls cost and stops them when the money is spent. Calls already under way are paid for. */
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

  /** Sets the total, including what other processes have spent. */
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

/** Refuses a value that is not a number of dollars: it would not limit anything. */
function dollarsOf(given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const dollars = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof dollars === "number" && dollars >= 0) return dollars;
  throw new GymError(
    "PROVIDER_MAX_COST",
    `max_cost must be a number of dollars, not ${JSON.stringify(given) ?? String(given)}.`,
  );
}
