import { expect, it } from "vitest";
import { DispatchBudget } from "./dispatch-budget.ts";

it("ends with its time, and earlier by the margin", () => {
  expect(new DispatchBudget({ budgetMs: 0, marginMs: null }, 100).isOver(100)).toBe(true);
  const plain = new DispatchBudget({ budgetMs: 1000, marginMs: null }, 100);
  expect([plain.isOver(1099), plain.isOver(1100)]).toEqual([false, true]);
  const careful = new DispatchBudget({ budgetMs: 1000, marginMs: 300 }, 100);
  expect([careful.isOver(800), careful.isOver(801)]).toEqual([false, true]);
});

it("takes three quarters of the rollouts as the margin when five have ended", () => {
  const budget = new DispatchBudget({ budgetMs: 1000, marginMs: null }, 0);
  for (const duration of [500, 100, 300, 200]) budget.ended(duration);
  expect(budget.isOver(999)).toBe(false);
  budget.ended(400);
  expect([budget.isOver(600), budget.isOver(601)]).toEqual([false, true]);
});
