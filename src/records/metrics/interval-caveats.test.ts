import { expect, it } from "vitest";
import { intervalCaveats } from "./interval-caveats.ts";

const reward = { value: 0.5, standard_error: 0.1, low: 0.3, high: 0.7, tasks: 10 };

it("says why mean and pass@k differ when rollouts failed or are missing", () => {
  const pass = [{ k: 1 }];
  expect(intervalCaveats({ reward, pass, is_unit: true, pass_threshold: 1, unscored: 12 })).toEqual([
    expect.stringContaining("pass@k over the tasks with at least k scored rollouts"),
  ]);
  expect(intervalCaveats({ reward, pass, is_unit: true, pass_threshold: 1, unscored: 0 })).toEqual([]);
});
