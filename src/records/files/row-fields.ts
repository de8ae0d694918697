import { PyFloat } from "../../base/python/numbers/door.ts";
import { invalidRow } from "../errors.ts";
import { agentName } from "../metrics/rollout-row.ts";
import type { JsonlLine, Row } from "./jsonl-rows.ts";

/** The agent of a row; undefined for `agent_ref: null` and one without a name. */
export function agentNameOf(row: Row): string | undefined {
  return agentName(row) || undefined;
}

/** The task index in a row; undefined without one. */
export function givenTaskIndex(row: Row, path: string, line: JsonlLine): number | undefined {
  const given = row["_ng_task_index"];
  if (given === undefined || given === null) return undefined;
  const index = given instanceof PyFloat ? given.value : given;
  if (typeof index === "number" && Number.isSafeInteger(index)) return index;
  throw invalidRow(path, line, "'_ng_task_index' is not a whole number.");
}
