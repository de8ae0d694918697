import { expect, it } from "vitest";
import { growthOf } from "./growth.ts";

const spin = (steps: number) => {
  let sum = 0;
  for (let step = 0; step < steps; step++) sum = (sum * 31 + step) % 1_000_003;
  return sum;
};

it("distinguishes linear from quadratic and constant time", { timeout: 60_000 }, async () => {
  expect(await growthOf((size) => spin(size * 100), 1_000)).toBeLessThan(1.6);
  expect(await growthOf((size) => spin(size ** 2), 500)).toBeGreaterThan(1.6);
  expect(await growthOf(() => spin(100), 1_000)).toBeLessThan(0.5);
});

it("does not take collected garbage and cold caches for growth", { timeout: 60_000 }, async () => {
  const slowIfLarge = (size: number) => spin(size * 100 * (size > 20_000 ? 2.5 : 1));
  expect(await growthOf(slowIfLarge, 20_000)).toBeLessThan(1.45);
});
