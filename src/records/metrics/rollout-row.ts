import { isTruthy } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import { PyFloat } from "../../base/python/numbers/door.ts";
import { MetricsError } from "./errors.ts";

export type Row = Record<string, unknown>;

/** The identity of a rollout within a run. */
export interface RolloutIndices {
  taskIndex: number;
  rolloutIndex: number;
}

/** Both indices of a rollout row, which are required. */
export function rowIndices(row: Row): RolloutIndices {
  if (row === null || typeof row !== "object") {
    throw new MetricsError("METRICS_MISSING_INDEX", "A rollout row is not an object.");
  }
  return {
    taskIndex: wholeNumber(row["_ng_task_index"], "_ng_task_index"),
    rolloutIndex: wholeNumber(row["_ng_rollout_index"], "_ng_rollout_index"),
  };
}

function wholeNumber(value: unknown, key: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (value instanceof PyFloat && Number.isSafeInteger(value.value)) return value.value;
  const problem =
    value === undefined ? `lacks '${key}'` : `has '${key}' = ${JSON.stringify(value)}, which is not an index`;
  throw new MetricsError("METRICS_MISSING_INDEX", `A rollout row ${problem}.`);
}

/** The agent of a row, if it has one. Tasks of tasksets name none: their environment server stands for it. */
export function agentName(row: Row): string | undefined {
  const { agent_ref: reference = { name: row["_ng_environment_server"] } } = row;
  const name = reference !== null && typeof reference === "object" ? (reference as Row)["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** A number or a boolean as a number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  return value instanceof PyFloat ? value.value : undefined;
}

/** The token usage of the row's response, if any. A value that is not an object is an error. */
export function usageOf(row: Row): Row | undefined {
  const response = row["response"];
  if (response === undefined) return undefined;
  if (!isObject(response)) {
    throw new MetricsError("METRICS_MISSING_RESPONSE", "The 'response' of a rollout row is not an object.");
  }
  const usage = response["usage"];
  if (!isTruthy(usage)) return undefined;
  if (isObject(usage)) return usage;
  throw new MetricsError("METRICS_MISSING_RESPONSE", "The 'usage' of a rollout's response is not an object.");
}
