import { stat } from "node:fs/promises";
import path from "node:path";
import { closestPath, findExistingPath } from "../config/paths.ts";
import { DatasetError } from "../data/errors.ts";
import { RolloutFileError } from "../records/errors.ts";
import { findRuns } from "../records/files/door.ts";
import type { CommandContext } from "./command.ts";

/** A dataset that the user named, as an absolute path; if it is missing, the error names the flag. */
export async function requireInputFile(context: CommandContext, file: string, flag: string): Promise<string> {
  const absolute = path.resolve(context.io.cwd, file);
  const entry = await stat(absolute).catch(() => undefined);
  if (entry === undefined)
    throw new DatasetError("DATASET_MISSING", `Input file not found: '${file}' (${flag}).`);
  if (!entry.isFile()) throw new DatasetError("DATASET_FILE", `'${file}' (${flag}) is not a file.`);
  return absolute;
}

/** A file of the working directory or another root, as configs name them. */
export async function rootedFile(context: CommandContext, file: string, flag: string): Promise<string> {
  const found = findExistingPath(file, context.roots);
  return requireInputFile(context, found ?? file, flag);
}

/** The absolute path of an output file; fails before any work if it is a directory. */
export async function outputFile(context: CommandContext, file: string, advice: string): Promise<string> {
  const absolute = path.resolve(context.io.cwd, file);
  const entry = await stat(absolute).catch(() => undefined);
  if (entry?.isDirectory() || /[\\/]$/.test(file))
    throw new DatasetError("DATASET_FILE", `The output '${file}' is a directory; ${advice}.`);
  return absolute;
}

/** A file of rollouts that the user named, or a directory of them if allowed; errors name the flag. */
export async function rolloutFile(
  { io }: Pick<CommandContext, "io">,
  given: string,
  flag: string,
  options: { directory?: boolean } = {},
): Promise<string> {
  const absolute = path.resolve(io.cwd, given);
  const entry = await stat(absolute).catch(() => undefined);
  if (entry === undefined) {
    const close = closestPath(given, [io.cwd]);
    const hint = close === undefined ? await runsHere(io.cwd) : ` Did you mean '${close}'?`;
    throw new RolloutFileError(
      "ROLLOUT_FILE_MISSING",
      absolute,
      `Input file not found: '${given}' (${flag}).${hint}`,
    );
  }
  if (entry.isDirectory() && !options.directory) {
    throw new RolloutFileError("ROLLOUT_FILE_IS_DIRECTORY", absolute, `'${given}' (${flag}) is a directory.`);
  }
  return absolute;
}

const MAX_NAMED_RUNS = 5;

/** Names runs of the default directory, for the error about one that is missing. */
async function runsHere(cwd: string): Promise<string> {
  const { runs } = await findRuns([path.join(cwd, "results")]).catch(() => ({ runs: [] }));
  if (runs.length === 0) return "";
  const names = runs.slice(0, MAX_NAMED_RUNS).map(({ rollouts }) => path.relative(cwd, rollouts));
  return ` There are: ${names.join(", ")}${runs.length > names.length ? ", …" : ""}.`;
}

/** A path as the user would write it. */
export function shownPath({ io }: Pick<CommandContext, "io">, file: string): string {
  const relative = path.relative(io.cwd, file);
  return relative === "" || relative.startsWith(`..${path.sep}..`) ? file : relative;
}

/** A path relative to the working directory. */
export function relativePath({ io }: Pick<CommandContext, "io">, file: string): string {
  return path.relative(io.cwd, file) || file;
}

/** Runs a command and reports file system errors as one sentence instead of a stack. */
export async function withFileErrors(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    throw fileError(error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be accessed",
  EPERM: "may not be accessed",
  EISDIR: "is a directory",
  ENOTDIR: "lies below something that is not a directory",
  ENOSPC: "does not fit: the disk is full",
  EDQUOT: "does not fit: the quota is used up",
  ENAMETOOLONG: "has too long a name",
  EROFS: "lies on a read-only file system",
};

/** A file system error as one sentence; other errors are unchanged. */
function fileError(error: unknown): unknown {
  const { code = "", path: file } = error as NodeJS.ErrnoException;
  if (!Object.hasOwn(REASONS, code)) return error;
  const subject = file === undefined ? "A file" : `'${file}'`;
  return new DatasetError("DATASET_FILE", `${subject} ${REASONS[code]}.`, { cause: error });
}
