import { invalidRow } from "../errors.ts";
import type { RolloutIndices } from "../metrics/rollout-row.ts";
import { type JsonlLine, parseRow, type Row } from "./jsonl-rows.ts";

/** The key of a row; undefined when an index is missing or is not an integer. */
export function keyOfRow(row: Row): RolloutIndices | undefined {
  const { _ng_task_index: taskIndex, _ng_rollout_index: rolloutIndex } = row;
  if (!Number.isSafeInteger(taskIndex) || !Number.isSafeInteger(rolloutIndex)) return undefined;
  return { taskIndex: taskIndex as number, rolloutIndex: rolloutIndex as number };
}

/** The key of a row that must have one. */
export function requireKey(row: Row, path: string, line: JsonlLine): RolloutIndices {
  const key = keyOfRow(row);
  if (key) return key;
  throw invalidRow(path, line, "the row lacks '_ng_task_index' or '_ng_rollout_index'.");
}

/**
 * Both indices as the last members of a JSON object. The brace at the end closes the row itself, so they are top-level
 * members, and a quote after a comma or brace cannot be inside a string. For a line that is a JSON object, a match is
 * always correct.
 */
const indicesAtEnd = /[,{]"_ng_task_index":(\d{1,15}),"_ng_rollout_index":(\d{1,15})\}$/;

/**
 * The key of a materialized input, without parsing if the key is at the end of the line (as in every file that this
 * package writes).
 */
export function materializedKey(path: string, line: JsonlLine): RolloutIndices {
  const match = indicesAtEnd.exec(line.text.slice(-80));
  if (match) return { taskIndex: Number(match[1]), rolloutIndex: Number(match[2]) };
  return requireKey(parseRow(path, line), path, line);
}

const agentBeforeIndices =
  /[,{]"agent_ref":\{"name":"([^"\\]+)"(?:,"type":"[^"\\]*")?\},"_ng_task_index":\d{1,15},"_ng_rollout_index":\d{1,15}\}$/;

/**
 * The agent of a materialized input if it is directly before the indices at the end (as in most files that this package
 * writes).
 */
export function agentAtEnd(text: string): string | undefined {
  return agentBeforeIndices.exec(text.slice(-240))?.[1];
}

/** The text of a materialized input without its indices; undefined if they are not at the end. */
export function textWithoutIndices(text: string): string | undefined {
  const tail = text.slice(-80);
  const match = indicesAtEnd.exec(tail);
  if (match === null) return undefined;
  const kept = text.slice(0, text.length - tail.length + match.index);
  return kept === "" ? "{}" : `${kept}}`;
}
