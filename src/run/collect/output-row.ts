import { errorMessage } from "../../base/errors.ts";
import { copyWith } from "../../base/python/json/door.ts";
import { RolloutError } from "../../records/errors.ts";
import type { Row } from "../../records/files/door.ts";
import { countOf } from "../../wire/convert/door.ts";
import { resultJson } from "../../wire/door.ts";
import { maskMembers } from "../../wire/light-door.ts";
import type { Failure } from "./outcome.ts";

/** Start and duration of an attempt; an object, so that the metrics do not treat it as a column. */
export interface RolloutTiming {
  started_at: string;
  seconds: number;
  /** Times of the seed and verify stages, if the agent runs in the collector's process. */
  seed?: StageTiming;
  verify?: StageTiming;
  /** Model calls of the attempt, if the agent runs in the process that started it. */
  model_calls?: number;
}

/** The model calls of a finished attempt: those that were seen, or those that the model server counted for the agent. */
export function modelCallsOf(row: Row): number {
  const { model_calls: seen } = (row["_ng_timing"] ?? {}) as Partial<RolloutTiming>;
  const { usage } = (row["response"] ?? {}) as { usage?: { ng_model_calls?: unknown } | null };
  return Math.max(countOf(seen) ?? 0, countOf(usage?.ng_model_calls) ?? 0);
}

/** A part of an attempt; `at` is in seconds after its start. */
interface StageTiming {
  at: number;
  seconds: number;
}

/**
 * The row of a finished rollout: the agent's reply with the identity of the input. Existing keys are replaced in place;
 * the others are appended in this order.
 */
export function outputRow(reply: Row, input: Row, timing?: RolloutTiming): Row {
  const row = copyWith(reply, {
    _ng_task_index: input["_ng_task_index"],
    _ng_rollout_index: input["_ng_rollout_index"],
  });
  for (const name of ["agent_ref", "skills_ref", "_ng_atif_provenance"])
    if (Object.hasOwn(input, name)) row[name] = input[name];
  if (typeof input["_ng_attempt_index"] === "number" && input["_ng_attempt_index"] > 0) {
    row["_ng_attempt_index"] = input["_ng_attempt_index"];
  }
  if (Object.hasOwn(input, "_ng_rollout_id")) row["_ng_rollout_id"] = input["_ng_rollout_id"];
  if (timing) row["_ng_timing"] = timing;
  return row;
}

/**
 * Serializes a row as a line. Servers in this process can return values that JSON cannot represent: a BigInt, a cycle.
 */
export function lineOf(row: Row): string {
  try {
    return resultJson(row);
  } catch (error) {
    throw new RolloutError("ROLLOUT_ROW_NOT_JSON", `the result is not JSON: ${errorMessage(error)}`);
  }
}

/**
 * The row of a failed attempt for the failures file: the reply if any, else the input, with the sentinels that a
 * resumed run reads, the full failure, and `mask_sample`, because trainers must not use the reward of a failed attempt.
 */
export function failureRow(
  failure: Failure,
  input: Row,
  { reply, timing }: { reply?: Row; timing?: RolloutTiming } = {},
): Row {
  const row = outputRow(reply ?? input, input, timing);
  row["_ng_failure_class"] = failure.class;
  if (failure.terminal) row["_ng_failure_terminal"] = true;
  row["_ng_failure"] = {
    class: failure.class,
    stage: failure.stage,
    retryable: failure.retryable,
    message: failure.message,
  };
  return Object.assign(row, maskMembers(row));
}
