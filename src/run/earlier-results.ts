import { open, rename, stat } from "node:fs/promises";
import { fileError, RolloutError, RolloutLineError } from "../records/errors.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  healthReports,
  parseRow,
  type Row,
  readLines,
} from "../records/files/door.ts";

/** Number of leading bytes that show the format of an export. */
const LOOKED_AT = 16;

/** What exists at the output path; `other` is a file that does not belong to a run and must be kept. */
type Held = "nothing" | "run" | "other";

/** Checks the output and the failures file of a run; empty files count as nothing. */
export async function heldAt(paths: ArtifactPaths): Promise<Held> {
  let held: Held = "nothing";
  for (const path of [paths.output, paths.failures]) {
    if ((await sizeOf(path)) === 0) continue;
    if (!(await belongsToRun(paths)) && !(await holdsRollouts(path))) return "other";
    held = "run";
  }
  return held;
}

/** Whether files that only a run writes exist next to the output. */
export async function belongsToRun(paths: ArtifactPaths): Promise<boolean> {
  return (await sizeOf(paths.manifest)) > 0 || (await sizeOf(paths.materializedInputs)) > 0;
}

/** Whether the first line of a file is a completed or failed rollout. */
async function holdsRollouts(path: string): Promise<boolean> {
  try {
    for await (const line of readLines(path)) return isRollout(parseRow(path, line));
  } catch (error) {
    // Not a row: text, images or other data.
    if (!(error instanceof RolloutLineError)) throw error;
  }
  return false;
}

function isRollout(row: Row): boolean {
  const placed = "_ng_task_index" in row && "_ng_rollout_index" in row;
  const scored = "reward" in row;
  return placed ? scored || "response" in row || "_ng_failure_class" in row : scored && "response" in row;
}

/** Rejects to move files that do not belong to a run. */
export async function rejectOtherFiles(paths: ArtifactPaths): Promise<void> {
  if ((await heldAt(paths)) === "other") throw otherFileError(paths.output);
}

/** The error for replacing a file that holds no results. */
export function otherFileError(path: string): RolloutError {
  return new RolloutError(
    "ROLLOUT_OUTPUT_EXISTS",
    `'${path}' already exists and contains no results of a run; it was not changed. Choose another --output, or remove it.`,
  );
}

/** Rejects to write a result over a run or its rollouts. */
export async function rejectReplacingRun(path: string): Promise<void> {
  if ((await sizeOf(path)) === 0) return;
  if (!(await belongsToRun(artifactPaths(path))) && !(await holdsRollouts(path))) return;
  throw new RolloutError(
    "ROLLOUT_OUTPUT_EXISTS",
    `'${path}' contains the rollouts of a run; it was not changed. Choose another --output, or remove it.`,
  );
}

/** Allows replacing an earlier export; rejects replacing a run or a file that cannot be an export of this format. */
export async function rejectReplacingExport(path: string, format: string): Promise<void> {
  await rejectReplacingRun(path);
  const start = await startOf(path);
  if (start === "" || looksLikeExport(start, format)) return;
  throw new RolloutError(
    "ROLLOUT_OUTPUT_EXISTS",
    `'${path}' already exists and contains no ${format} export; it was not changed. Choose another --output, or remove it.`,
  );
}

function looksLikeExport(start: string, format: string): boolean {
  if (format === "parquet") return start.startsWith("PAR1");
  if (format === "csv") return start.startsWith("task_index,");
  return start.startsWith("{");
}

async function startOf(path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const buffer = Buffer.alloc(LOOKED_AT);
      const { bytesRead } = await file.read(buffer, 0, LOOKED_AT, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw fileError(error, path, "read");
  }
}

/**
 * Moves all files of an earlier run away under one new suffix (`.previous`, then `.previous.2`, …). Results may be
 * expensive, and with their inputs and settings they can still be resumed. Returns the new path of the output.
 */
export async function setAside(paths: ArtifactPaths): Promise<string> {
  const { progress: _progress, ...kept } = paths;
  const files = [...new Set([...Object.values(kept), ...Object.values(await healthReports(paths.output))])];
  let ending = ".previous";
  for (let number = 2; await anyExists(files, ending); number++) ending = `.previous.${number}`;
  for (const file of files) {
    await rename(file, `${file}${ending}`).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw fileError(error, file, "write");
    });
  }
  return `${paths.output}${ending}`;
}

async function anyExists(files: readonly string[], ending: string): Promise<boolean> {
  for (const file of files) if (await stat(`${file}${ending}`).catch(() => undefined)) return true;
  return false;
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found.size : 0;
}
