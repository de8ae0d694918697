import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { GymError } from "../errors.ts";

/** Stable codes of what goes wrong around the files of a run; error-codes.ts says what to do about each. */
export type RolloutErrorCode =
  | "ROLLOUT_FILE_MISSING"
  | "ROLLOUT_FILE_UNREADABLE"
  | "ROLLOUT_FILE_IS_DIRECTORY"
  | "ROLLOUT_FILE_NOT_WRITABLE"
  | "ROLLOUT_FILE_REPLACED"
  | "ROLLOUT_DISK_FULL"
  | "ROLLOUT_DISK_ERROR"
  | "ROLLOUT_WRITER_CLOSED"
  | "ROLLOUT_LINE_TOO_LONG"
  | "ROLLOUT_LINE_NOT_UTF8"
  | "ROLLOUT_ROW_NOT_JSON"
  | "ROLLOUT_ROW_INVALID"
  | "ROLLOUT_ROWS_WITHOUT_AGENT"
  | "ROLLOUT_UNKNOWN_AGENT"
  | "ROLLOUT_ROWS_REFUSED"
  | "ROLLOUT_INPUT_POPULATED"
  | "ROLLOUT_REPEATS_INVALID"
  | "ROLLOUT_PROMPT_CONFIG"
  | "ROLLOUT_SKILLS"
  | "ROLLOUT_FOREIGN_OUTPUT"
  | "ROLLOUT_MANIFEST_INVALID"
  | "ROLLOUT_EXPORT"
  | "ROLLOUT_HEALTH_CHECK"
  | "ROLLOUT_SELECTION"
  | "ROLLOUT_NOTHING_IN_COMMON"
  | "ROLLOUT_OTHER_INPUTS"
  | "ROLLOUT_OUTPUT_EXISTS"
  | "ROLLOUT_OUTPUT_IS_INPUT"
  | "ROLLOUT_REVERIFY_UNSAFE"
  | "ROLLOUT_REVERIFY_ROUTE"
  | "ROLLOUT_INPUT_EMPTY"
  | "ROLLOUT_LOCKED"
  | "ROLLOUT_MASK_FRACTION"
  | "ROLLOUT_DRIVER"
  | "ROLLOUT_RESUME_REFUSED";

/** The inputs, settings or files of a run are not as they must be. */
export class RolloutError extends GymError {
  declare readonly code: RolloutErrorCode;

  constructor(code: RolloutErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** A file could not be read or written; `path` is the file. */
export class RolloutFileError extends RolloutError {
  readonly path: string;

  constructor(code: RolloutErrorCode, path: string, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
    this.path = path;
  }
}

/** A line of a file is not what it should be; the message begins with `file:line`. */
export class RolloutLineError extends RolloutFileError {
  readonly line: number;

  constructor(
    code: RolloutErrorCode,
    path: string,
    line: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, path, `${path}:${line}: ${message}`, options);
    this.line = line;
  }
}

const byErrno: Record<string, [code: RolloutErrorCode, what: string]> = {
  ENOENT: ["ROLLOUT_FILE_MISSING", "does not exist"],
  ENOTDIR: ["ROLLOUT_FILE_MISSING", "does not exist (a part of its path is a file)"],
  EISDIR: ["ROLLOUT_FILE_IS_DIRECTORY", "is a directory"],
  EACCES: ["ROLLOUT_FILE_NOT_WRITABLE", "may not be opened (permission denied)"],
  EPERM: ["ROLLOUT_FILE_NOT_WRITABLE", "may not be opened (not permitted)"],
  EROFS: ["ROLLOUT_FILE_NOT_WRITABLE", "lies on a read-only file system"],
  ENOSPC: ["ROLLOUT_DISK_FULL", "cannot grow: no space is left on the device"],
  EDQUOT: ["ROLLOUT_DISK_FULL", "cannot grow: the disk quota is used up"],
  EFBIG: ["ROLLOUT_DISK_FULL", "cannot grow: it has reached the largest size allowed"],
  EIO: ["ROLLOUT_DISK_ERROR", "could not be read or written: the device reports an error"],
};

/** Turns an error of the file system into one that says what is wrong with which file. */
export function fileError(error: unknown, path: string, doing: "read" | "write"): RolloutFileError {
  if (error instanceof RolloutFileError) return error;
  const errno = (error as NodeJS.ErrnoException).code ?? "";
  const blocked = errno === "ENOENT" && doing === "write" ? unwritableAncestor(path) : undefined;
  const known = byErrno[blocked ?? errno];
  if (errno === "ENOENT" && doing === "write" && !blocked) {
    const message = `'${path}' cannot be created: its directory does not exist.`;
    return new RolloutFileError("ROLLOUT_FILE_MISSING", path, message, { cause: error });
  }
  if (known) {
    const code =
      doing === "read" && known[0] === "ROLLOUT_FILE_NOT_WRITABLE" ? "ROLLOUT_FILE_UNREADABLE" : known[0];
    return new RolloutFileError(code, path, `'${path}' ${known[1]}.`, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = doing === "read" ? "ROLLOUT_FILE_UNREADABLE" : "ROLLOUT_DISK_ERROR";
  return new RolloutFileError(
    code,
    path,
    `'${path}' could not be ${doing === "read" ? "read" : "written"}: ${message}`,
    {
      cause: error,
    },
  );
}

/** The refusal to write to something other than a file. */
export function notRegularError(path: string): RolloutFileError {
  return new RolloutFileError(
    "ROLLOUT_FILE_NOT_WRITABLE",
    path,
    `'${path}' is a device, pipe or socket; --output must name a file.`,
  );
}

/** Creating directories on a read-only file system is reported as ENOENT; the nearest one that exists knows better. */
function unwritableAncestor(path: string): string | undefined {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    try {
      accessSync(directory, constants.W_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" || directory === dirname(directory)) return code === "ENOENT" ? undefined : code;
    }
  }
}
