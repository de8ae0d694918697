import { PyFloat } from "../python/py-float.ts";
import { MetricsError } from "./metrics-error.ts";

export type Row = Record<string, unknown>;

/** What identifies a rollout within a run. */
export interface RolloutIndices {
  taskIndex: number;
  rolloutIndex: number;
}

/** Both indices of a rollout row; without them it has no identity. */
export function rowIndices(row: Row): RolloutIndices {
  if (row === null || typeof row !== "object") {
    throw new MetricsError("METRICS_MISSING_INDEX", "A rollout row is no object.");
  }
  return { taskIndex: indexOf(row, "_ng_task_index"), rolloutIndex: indexOf(row, "_ng_rollout_index") };
}

function indexOf(row: Row, key: "_ng_task_index" | "_ng_rollout_index"): number {
  const value = row[key];
  const index = value instanceof PyFloat ? value.value : value;
  if (typeof index === "number" && Number.isSafeInteger(index)) return index;
  const problem =
    value === undefined ? `lacks '${key}'` : `has '${key}' = ${JSON.stringify(value)}, which is no index`;
  throw new MetricsError("METRICS_MISSING_INDEX", `A rollout row ${problem}.`);
}

/** A number or a boolean as a number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  switch (typeof value) {
    case "number":
      return value;
    case "boolean":
    case "bigint":
      return Number(value);
    case "object":
      return value instanceof PyFloat ? value.value : undefined;
    default:
      return undefined;
  }
}

/** The token usage of the row's response, if it has any. */
export function usageOf(row: Row): Row | undefined {
  const response = row["response"];
  if (response === null || typeof response !== "object") return undefined;
  const usage = (response as Row)["usage"];
  return usage !== null && typeof usage === "object" && !Array.isArray(usage) ? (usage as Row) : undefined;
}
