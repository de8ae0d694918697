import { expect, it } from "vitest";
import { CostMeter, costOf, listPrice, runMeter } from "./cost.ts";

const price = { input: 2, output: 8, cached_input: 0.5, cache_write: 2.5 };

it("prices tokens and cached tokens of all APIs", () => {
  expect(costOf({ input_tokens: 1_000_000, output_tokens: 500_000 }, price)).toBe(6);
  expect(
    costOf(
      { prompt_tokens: 1_000_000, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 400_000 } },
      price,
    ),
  ).toBeCloseTo(1.4);
  expect(
    costOf(
      {
        input_tokens: 100_000,
        output_tokens: 0,
        cache_read_input_tokens: 800_000,
        cache_creation_input_tokens: 100_000,
      },
      price,
    ),
  ).toBeCloseTo(0.2 + 0.4 + 0.25);
});

it("uses the cost that the endpoint reports", () => {
  expect(costOf({ prompt_tokens: 5, completion_tokens: 5, cost: 0.0125 }, price)).toBe(0.0125);
  expect(costOf({ prompt_tokens: 5 }, undefined, { "x-litellm-response-cost": "0.5" })).toBe(0.5);
});

it("is null without a price or a usage", () => {
  expect(costOf({ input_tokens: 5, output_tokens: 5 }, undefined)).toBeNull();
  expect(costOf(null, price)).toBeNull();
  expect(costOf({ prompt_tokens: -1 }, price)).toBeNull();
});

it.each([
  ["gpt-5", 1.25],
  ["gpt-5-2025-08-07", 1.25],
  ["gpt-5-mini", 0.25],
  ["openai/gpt-4.1-nano-2025-04-14", 0.1],
  ["claude-sonnet-4-20250514", 3],
  ["claude-sonnet-4-5-20250929", 3],
  ["claude-opus-4-5-20251101", 5],
  ["gpt-5-something-else", undefined],
  ["gpt-55", undefined],
  ["my-model", undefined],
])("knows the list price of %s", (model, input) => {
  expect(listPrice(model)?.input).toBe(input);
});

it("stops all servers of a run when the budget is spent", () => {
  const config = { max_cost: 1 };
  expect(runMeter(config)).toBe(runMeter(config));
  runMeter(config).add(0.99);
  runMeter(config).check();
  runMeter(config).add(0.02);
  expect(() => runMeter(config).check()).toThrow("the budget of the run (max_cost) is spent: $1.0100 of $1");
  const unlimited = new CostMeter(null, "nothing");
  unlimited.add(1e9);
  unlimited.check();
});
