import { afterEach, expect, it } from "vitest";
import { shareAmongWorkers, workerShare } from "./limit-shares.ts";

afterEach(() => shareAmongWorkers(1, 0));

it.each([
  [10, 1, [10]],
  [10, 3, [4, 3, 3]],
  [2, 4, [1, 1, 0, 0]],
])("divides %i calls among %i workers without a remainder", (limit, workers, parts) => {
  const found = Array.from({ length: workers }, (_, position) => {
    shareAmongWorkers(workers, position);
    return workerShare(limit);
  });
  expect(found).toEqual(parts);
  expect(found.reduce((sum, part) => sum + part, 0)).toBe(limit);
});
