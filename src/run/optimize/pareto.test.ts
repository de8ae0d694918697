import { expect, it } from "vitest";
import { bestCandidate, paretoFront, type Scores } from "./pareto.ts";

const pool = (...scores: number[][]): Map<number, Scores> =>
  new Map(scores.map((each, index) => [index, new Map(each.map((score, task) => [task, score]))]));

it("keeps the candidates that lead tasks, and counts these tasks", () => {
  expect([...paretoFront(pool([1, 0, 0], [0, 1, 1], [0, 0, 1]))]).toEqual([
    [0, 1],
    [1, 2],
  ]);
});

it("prefers the latest of equal candidates, which was better on training tasks", () => {
  const equal = pool([0, 0], [1, 0], [1, 0]);
  expect([...paretoFront(equal).keys()]).not.toContain(1);
  expect(bestCandidate(equal)).toBe(2);
});
