import { existsSync } from "node:fs";
import { isTruthy } from "../../base/python/door.ts";
import { copyWith } from "../../base/python/json/door.ts";
import {
  type ArtifactPaths,
  JsonlWriter,
  type Row,
  readRows,
  writeFileAtomically,
} from "../../records/files/door.ts";
import { lineOf } from "../collect/output-row.ts";

const MOVED = "_ng_migrated_invalid_judge_response";
const LENIENT = { skipBlank: true, onTornLine: () => {}, keepReferences: true };

/**
 * Moves results whose judge gave an invalid answer (`invalid_judge_response`) to the failures file, so that they are
 * not scored and run again. A row is on the disk there before it leaves the results, and is not written twice. Returns
 * the number of rows.
 */
export async function moveInvalidlyJudged({
  output,
  failures,
}: Pick<ArtifactPaths, "output" | "failures">): Promise<number> {
  let count = 0;
  for await (const { row } of readRows(output, LENIENT)) if (isInvalid(row)) count++;
  if (count === 0) return 0;
  const moved = new Set<string>();
  if (existsSync(failures))
    for await (const { row } of readRows(failures, LENIENT)) if (isTruthy(row[MOVED])) moved.add(idOf(row));
  const writer = await JsonlWriter.open(failures, { fsync: "always" });
  try {
    for await (const { row } of readRows(output, LENIENT))
      if (isInvalid(row) && !moved.has(idOf(row))) await writer.append(lineOf(asFailure(row)));
  } finally {
    await writer.close();
  }
  await writeFileAtomically(output, validLines(output));
  return count;
}

async function* validLines(output: string): AsyncGenerator<string> {
  for await (const { row, line } of readRows(output, LENIENT)) if (!isInvalid(row)) yield `${line.text}\n`;
}

const isInvalid = (row: Row): boolean => isTruthy(row["invalid_judge_response"]);

function idOf(row: Row): string {
  const { stage_index: stage = 0, _ng_task_index: task, _ng_rollout_index: rollout } = row;
  return [stage, task, rollout, row["_ng_attempt_index"] ?? 0].join("-");
}

function asFailure({ _ng_failure_terminal: _, ...row }: Row): Row {
  const { _ng_failure_class: name } = row;
  return copyWith(row, { _ng_failure_class: name || "judge_invalid", [MOVED]: true, mask_sample: true });
}
