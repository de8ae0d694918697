import type { ResultHead } from "../../queue/store-server.ts";
import type { WorkerResult } from "../../rollouts/collect/collect-contract.ts";
import type { Failure } from "../../rollouts/collect/outcome.ts";
import type { RunResult } from "../../rollouts/collect/rollout-runner.ts";
import { parseRow } from "../../rollouts/files/jsonl-rows.ts";
import { keyOfRow } from "../../rollouts/files/row-key.ts";

/** The result that a worker delivered: its head, and the line for the rollouts file. */
export function readResult(head: ResultHead, line: string, file: string): WorkerResult["result"] {
  if (head.status === "cancelled") return { status: "cancelled", message: head.message ?? "" };
  if (head.status === "failed")
    return {
      status: "failed",
      failure: head.failure as Failure,
      persist: head.persist ?? true,
      ...(line !== "" && { line }),
    };
  const row = parseRow(file, { text: line, number: 0, offset: 0, byteLength: 0, terminated: true });
  const key = keyOfRow(row);
  if (key?.taskIndex !== head.task || key.rolloutIndex !== head.rollout)
    throw new Error(`the result is not that of rollout ${head.rollout} of task ${head.task}`);
  return { status: "completed", row, line } satisfies RunResult;
}
