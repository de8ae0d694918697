import type { Price } from "./settings.ts";

const price = (input: number, output: number, cached?: number, written?: number): Price => ({
  input,
  output,
  ...(cached !== undefined && { cached_input: cached }),
  ...(written !== undefined && { cache_write: written }),
});

/**
 * List prices in dollars per million tokens (input, output, cached input, cache writes), as published in April 2026. Names are
 * prefixes: `gpt-5-mini` also stands for `gpt-5-mini-2025-08-07`. Prices change: `prices` in the config wins.
 */
export const LIST_PRICES: Readonly<Record<string, Price>> = {
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

/** A name goes on with a version or a date, not with another model's name: `gpt-5` is not `gpt-5-mini`. */
const VERSION = /^(?:[-@:]?(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest|v\d+))?$/;

/** The list price of a model, also under a router's name such as `openai/gpt-4.1`; undefined when it is not known. */
export function listPrice(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1);
  let best: string | undefined;
  for (const known of Object.keys(LIST_PRICES)) {
    if (!name.startsWith(known) || !VERSION.test(name.slice(known.length))) continue;
    if (best === undefined || known.length > best.length) best = known;
  }
  return best === undefined ? undefined : LIST_PRICES[best];
}
