import { keyOfRow, parseRow, type Row } from "../../records/files/door.ts";
import type { Tried } from "../collect/collect-contract.ts";
import type { Failure } from "../collect/outcome.ts";
import { modelCallsOf } from "../collect/output-row.ts";
import type { ResultHead } from "../queue/store-server.ts";

/**
 * The result that a worker delivered: its head, and the line for the file. The line is validated like the reply of an
 * agent, because a resumed run must be able to read it.
 */
export function readResult(head: ResultHead, line: string, file: string): Tried {
  const { task, rollout } = head;
  const row = line === "" && head.status === "failed" ? undefined : readResultRow(line, file);
  if (row && !isRowOf(head, row))
    throw new Error(`the result is not that of rollout ${rollout} of task ${task}`);
  if (head.status === "failed")
    return {
      status: "failed",
      failure: head.failure as Failure,
      persist: head.persist,
      ...(row && { line, modelCalls: modelCallsOf(row) }),
    };
  const reward = row?.["reward"];
  if (!row || (reward !== undefined && !Number.isFinite(reward)))
    throw new Error(`the reward of rollout ${rollout} of task ${task} is not a number`);
  return { status: "completed", row, line, modelCalls: modelCallsOf(row) };
}

export function readResultRow(text: string, file: string): Row {
  return parseRow(file, { text, number: 0, offset: 0, byteLength: 0, terminated: true });
}

export function isRowOf({ task, rollout }: { task: number; rollout: number }, row: Row): boolean {
  const key = keyOfRow(row);
  return key?.taskIndex === task && key.rolloutIndex === rollout;
}
