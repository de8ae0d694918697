import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { type CodesOf, type ErrorTable, errorMessage, GymError } from "../base/errors.ts";

export type RolloutErrorCode = CodesOf<typeof rolloutErrorCodes>;

/** The inputs, settings or files of a run are invalid. */
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

/** A line of a file is invalid; the message begins with `file:line`. */
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

/** The error for a row that lacks something or has it in the wrong form. */
export function invalidRow(
  path: string,
  line: { number: number },
  problem: string,
  cause?: unknown,
): RolloutLineError {
  return new RolloutLineError("ROLLOUT_ROW_INVALID", path, line.number, problem, { cause });
}

const byErrno: Record<string, [code: RolloutErrorCode, what: string]> = {
  ENOENT: ["ROLLOUT_FILE_MISSING", "does not exist"],
  ENOTDIR: ["ROLLOUT_FILE_MISSING", "does not exist (a part of its path is a file)"],
  EISDIR: ["ROLLOUT_FILE_IS_DIRECTORY", "is a directory"],
  EEXIST: ["ROLLOUT_FILE_NOT_WRITABLE", "exists already"],
  EACCES: ["ROLLOUT_FILE_NOT_WRITABLE", "may not be opened (permission denied)"],
  EPERM: ["ROLLOUT_FILE_NOT_WRITABLE", "may not be opened (not permitted)"],
  EROFS: ["ROLLOUT_FILE_NOT_WRITABLE", "lies on a read-only file system"],
  ENOSPC: ["ROLLOUT_DISK_FULL", "cannot grow: no space is left on the device"],
  EDQUOT: ["ROLLOUT_DISK_FULL", "cannot grow: the disk quota is used up"],
  EFBIG: ["ROLLOUT_DISK_FULL", "cannot grow: it has reached the largest size allowed"],
  EIO: ["ROLLOUT_DISK_ERROR", "could not be read or written: the device reports an error"],
};

/** Converts a file system error to one that names the file and the problem. */
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
  const [code, done] =
    doing === "read"
      ? (["ROLLOUT_FILE_UNREADABLE", "read"] as const)
      : (["ROLLOUT_DISK_ERROR", "written"] as const);
  const message = `'${path}' could not be ${done}: ${errorMessage(error)}`;
  return new RolloutFileError(code, path, message, { cause: error });
}

/** The error for an output that is not a regular file. */
export function notRegularError(path: string): RolloutFileError {
  return new RolloutFileError(
    "ROLLOUT_FILE_NOT_WRITABLE",
    path,
    `'${path}' is a device, pipe or socket; --output must name a file.`,
  );
}

/**
 * Creating directories on a read-only file system fails with ENOENT; the nearest existing ancestor shows the real
 * reason.
 */
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

/** Codes of the inputs, files and settings of runs. */
export const rolloutErrorCodes = {
  RolloutError: {
    ROLLOUT_NOT_PACKED: {
      when: "A file named `.gymrun` is not a packed run, or one of a newer format.",
      fix: "Name a file that `gym run pack` wrote.",
    },
    ROLLOUT_PACK_DAMAGED: {
      when: "Bytes of a packed run do not match their digests, or its end is missing.",
      fix: "Copy the file again, or pack the run again.",
    },
    ROLLOUT_PACK_CHANGING: {
      when: "The rollouts changed while they were packed.",
      fix: "Wait until the run has ended.",
    },
    ROLLOUT_IMAGE_MISSING: {
      when: "A row refers to an image in `rollout_images` beside its file, and the image is absent or was changed.",
      fix: "Copy the folder `rollout_images` to the file again.",
    },
    ROLLOUT_NONE_FOUND: {
      when: "A directory given to the viewer or the board and its subdirectories contain no rollouts file.",
      fix: "Name the file.",
    },
    ROLLOUT_NO_ROWS_SELECTED: {
      when: "No row meets `--where`, `--ids` and `--sample`, or an id does not exist.",
      fix: "Look at the fields of the rows, and correct the condition or the ids.",
    },
    ROLLOUT_WHERE: {
      when: "`--where` is not an expression over the fields of the rows.",
      fix: "Correct it as the message says, for example `--where 'difficulty == \"hard\"'`.",
    },
    ROLLOUT_ROWS_REFUSED: {
      when: "Rows lack fields that their environment needs, or offer tools that it does not have.",
      fix: "Correct the rows (`gym env schema`, `gym env tools`). `++check_rows=false` skips the check.",
    },
    ROLLOUT_ROWS_WITHOUT_AGENT: {
      when: "Rows name no agent.",
      fix: "Set one with `--agent`, or add `agent_ref` to the rows.",
    },
    ROLLOUT_UNKNOWN_AGENT: {
      when: "Rows name an agent that is not among the servers of the run.",
      fix: "Correct `agent_ref` or `--agent`, or use a config with the agent.",
    },
    ROLLOUT_ROUTING: {
      when: "No environment server fits a row, or the keys of the routing do not fit each other.",
      fix: "Correct `environment_routing_mode`, `environment_server_name` or `environment_server_routes`, as the message says.",
    },
    ROLLOUT_INPUT_POPULATED: {
      when: "A prompt config would overwrite inputs that rows already have.",
      fix: "Remove the prompt config, or the rows' `responses_create_params.input`.",
    },
    ROLLOUT_COHORT: {
      when: "An environment scores several rollouts of a task together, and the settings of the run keep them from meeting: a queue, too few repeats or concurrent rollouts, or `--repeat-order breadth`.",
      fix: "Change the setting that the message names.",
    },
    ROLLOUT_REPEATS_INVALID: {
      when: "`num_repeats` is not a positive whole number, or has no entry for an agent.",
      fix: "Give a number of at least 1, or add the agent or `_default` to the mapping.",
    },
    ROLLOUT_PROMPT_CONFIG: {
      when: "A prompt config cannot be read, or its template is malformed.",
      fix: "Give a YAML mapping with a text under `user`; double braces that are meant literally.",
    },
    ROLLOUT_SKILLS: {
      when: "The skills directory cannot be used.",
      fix: "Give each skill a `SKILL.md` that begins with front matter naming it.",
    },
    ROLLOUT_TEXT_OVERRIDES: {
      when: "`text_overrides` has an unknown key, or a value of another type.",
      fix: "Give `system_prompt`, `system_prompt_role` or `tools` as the message says.",
    },
    ROLLOUT_MANIFEST_INVALID: {
      when: "The manifest of a run was not written by this program.",
      fix: "Choose another `--output`, or remove the manifest to resume unchecked.",
    },
    ROLLOUT_RESUME_REFUSED: {
      when: "The run to be resumed had other inputs or settings, or its materialized inputs are gone.",
      fix: "Use the same ones, choose another `--output`, or resume anyway with `--force`.",
    },
    ROLLOUT_INPUT_EMPTY: {
      when: "The input of a run has no rows.",
      fix: "Check the file and `--limit`.",
    },
    ROLLOUT_OUTPUT_IS_INPUT: {
      when: "A file that would be written is an input, a shard or a dataset of the config, perhaps through a link.",
      fix: "Choose another `--output`.",
    },
    ROLLOUT_LOCKED: {
      when: "Another run is writing to the same output.",
      fix: "Wait for it, or choose another `--output`.",
    },
    ROLLOUT_SETTINGS: {
      when: "Settings of a run contradict each other, such as `dispatch_budget_s` without `num_samples_in_parallel`.",
      fix: "Add or remove the setting that the message names.",
    },
    ROLLOUT_ATIF: {
      when: "A trajectory or the manifest for `--atif-manifest` is not valid, or a trajectory cannot be scored as one response (images, subagents, several models, …).",
      fix: "Correct the place that the message names, or leave the trajectory out of the manifest.",
    },
    ROLLOUT_EXPORT: {
      when: "The filters of an export contradict each other.",
      fix: "Correct the named value.",
    },
    ROLLOUT_HEALTH_CHECK: {
      when: "A health check to be skipped does not exist.",
      fix: "Give the ids listed in the message.",
    },
    ROLLOUT_SELECTION: {
      when: "Settings of `gym dataset select` contradict each other or are out of range.",
      fix: "Correct the named value.",
    },
    ROLLOUT_OUTPUT_EXISTS: {
      when: "The output already exists: results that would be lost, or a file that does not contain results.",
      fix: "Choose another `--output`, or remove the file; a reverification can continue with `--resume` or replace the file with `--overwrite`.",
    },
    ROLLOUT_REVERIFY_UNSAFE: {
      when: "A resources server does not declare that stored rollouts can be scored again without their session.",
      fix: "Run the rollouts again, or use `--force`.",
    },
    ROLLOUT_REVERIFY_ROUTE: {
      when: "The config does not say which resources server scores the rollouts of an agent.",
      fix: "Use the config of the rollouts.",
    },
    ROLLOUT_OTHER_INPUTS: {
      when: "The input rows given with `--inputs` do not belong to the rollouts.",
      fix: "Pass the `_materialized_inputs.jsonl` of the same run.",
    },
    ROLLOUT_NOTHING_IN_COMMON: {
      when: "Two runs to be compared have no task in common.",
      fix: "Compare runs over the same inputs, or match their tasks the other way with `--match`.",
    },
    ROLLOUT_NOT_JUDGED: {
      when: "The rollouts of a run name no judge, or too little is known or labelled to calibrate one.",
      fix: "Name a run whose environment asks a judge, and label more rollouts (`gym judge label`).",
    },
    ROLLOUT_LABELS_FOREIGN: {
      when: "A label belongs to another rollout than those of the run.",
      fix: "Give the labels of this run, or the run that was labelled.",
    },
    ROLLOUT_CALIBRATION_INVALID: {
      when: "A file given as the calibration of a judge was not written by `gym judge calibrate`.",
      fix: "Name another file, or calibrate the judge again.",
    },
    ROLLOUT_CALIBRATION_REQUIREMENT: {
      when: "`--require-calibration` names an unknown measure, or a value that is not a number.",
      fix: "Give measures with their least values, such as `kappa=0.6,labels=100`.",
    },
    ROLLOUT_MASK_FRACTION: {
      when: "More rollouts were masked than `token_id_capture.max_mask_fraction` allows.",
      fix: "Read the reasons in the message and the kept token records, fix the cause, then resume.",
    },
    ROLLOUT_DRIVER: {
      when: "`rollout_collection_driver` does not name a function, or the driver produced no results.",
      fix: "Set `package.module:function`, a function that a TypeScript or JavaScript file of the project exports.",
    },
  },
  RolloutFileError: {
    ROLLOUT_FILE_MISSING: {
      when: "A file of a run does not exist, or no file matches a pattern.",
      fix: "Correct the path; relative ones start at the working directory.",
    },
    ROLLOUT_FILE_UNREADABLE: {
      when: "A file cannot be opened or read, or changed while it was read.",
      fix: "Check its permissions, and that nothing else writes to it.",
    },
    ROLLOUT_FILE_IS_DIRECTORY: {
      when: "A path that must be a file is a directory.",
      fix: "Name a file inside it.",
    },
    ROLLOUT_FILE_NOT_WRITABLE: {
      when: "An output file cannot be written, is a device or pipe, or is on a read-only file system.",
      fix: "Choose another `--output`, or change the permissions.",
    },
    ROLLOUT_FILE_REPLACED: {
      when: "Another program deleted, replaced or truncated a file of the run while it was written.",
      fix: "Run again with another `--output`. After a deletion `--resume` starts a new run.",
    },
    ROLLOUT_DISK_FULL: {
      when: "No space or quota is left for a file. Its existing content is intact.",
      fix: "Free space, then resume the run.",
    },
    ROLLOUT_DISK_ERROR: {
      when: "The device reports an error while a file is written or synced.",
      fix: "Check the disk, then resume the run: the file is repaired when it is opened.",
    },
    ROLLOUT_WRITER_CLOSED: {
      when: "A line was written to a closed file.",
      fix: "Report it: this is a mistake in the program.",
    },
  },
  RolloutLineError: {
    ROLLOUT_LINE_TOO_LONG: {
      when: "A line is longer than any row can be.",
      fix: "Check that the file is JSONL: one row per line.",
    },
    ROLLOUT_LINE_NOT_UTF8: {
      when: "A line contains bytes that are not valid UTF-8.",
      fix: "Convert the file to UTF-8.",
    },
    ROLLOUT_ROW_NOT_JSON: {
      when: "A line is blank or not valid JSON.",
      fix: "Correct or remove the named line.",
    },
    ROLLOUT_ROW_INVALID: {
      when: "A required field of a row is missing or has the wrong type.",
      fix: "Correct the row at the named line.",
    },
    ROLLOUT_FOREIGN_OUTPUT: {
      when: "The output contains rollouts of another run.",
      fix: "Choose another `--output`, or give the inputs that belong to it.",
    },
  },
  RolloutCancelled: {
    ROLLOUT_CANCELLED: {
      when: "A rollout was stopped on purpose.",
      fix: "Resume the run to run it again.",
    },
  },
  DeadlineExceeded: {
    ROLLOUT_DEADLINE: {
      when: "A rollout or a run took longer than allowed.",
      fix: "Raise the limit, or find out what the named stage was waiting for.",
    },
  },
  TokenSequenceError: {
    TOKEN_SEQUENCE: {
      when: "The token ids of a rollout cannot be trained on: its calls do not continue each other, or a list is missing or too short.",
      fix: "Export with `--token-drift fork` or `truncate`, or let the engine keep the tokens of earlier turns.",
    },
  },
} satisfies ErrorTable;
