import { expect, it } from "vitest";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { ValidationError } from "../../wire/schemas/validation.ts";
import { rolloutIdOf } from "./rollout-id.ts";

const row = (task: unknown, rollout: unknown, attempt?: unknown) => ({
  _ng_task_index: task,
  _ng_rollout_index: rollout,
  _ng_attempt_index: attempt,
});

it.each([
  [row(4, 2), "4-2"],
  [row(4, 2, 3), "4-2-a3"],
  [row(4, 2, 0), "4-2"],
  [row(4, 2, "2"), "4-2-a2"],
  [row(4, 2, 1.5), "4-2-a1"],
  [row(4, 2, true), "4-2-a1"],
  [row(4, 2, -1), "4-2"],
  [row("t", false), "t-False"],
  [row(new PyFloat(1), 2), "1.0-2"],
  [row(4, null), undefined],
  [{ _ng_rollout_id: "run.A-1", _ng_attempt_index: 1 }, "run.A-1-a1"],
])("returns the id of %j", (body, id) => {
  expect(rolloutIdOf(body)).toBe(id);
});

it.each(["x", [], {}, Number.NaN])("rejects the attempt %j", (attempt) => {
  expect(() => rolloutIdOf(row(1, 1, attempt))).toThrow(ValidationError);
});
