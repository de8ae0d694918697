import type { ErrorCodeRow } from "../errors.ts";

/** Codes of the inputs, files and settings of runs. */
export const rolloutErrorCodes = [
  {
    code: "ROLLOUT_FILE_MISSING",
    class: "RolloutFileError",
    when: "A file of a run does not exist, or no file matches a pattern.",
    fix: "Correct the path; relative ones start at the working directory.",
  },
  {
    code: "ROLLOUT_FILE_UNREADABLE",
    class: "RolloutFileError",
    when: "A file cannot be opened or read, or changed while it was read.",
    fix: "Check its permissions, and that nothing else writes to it.",
  },
  {
    code: "ROLLOUT_FILE_IS_DIRECTORY",
    class: "RolloutFileError",
    when: "A path that must be a file is a directory.",
    fix: "Name a file inside it.",
  },
  {
    code: "ROLLOUT_FILE_NOT_WRITABLE",
    class: "RolloutFileError",
    when: "An output file may not be written, or lies on a read-only file system.",
    fix: "Choose another `--output`, or change the permissions.",
  },
  {
    code: "ROLLOUT_DISK_FULL",
    class: "RolloutFileError",
    when: "No space or quota is left for a file. What it already held is intact.",
    fix: "Free space, then resume the run.",
  },
  {
    code: "ROLLOUT_DISK_ERROR",
    class: "RolloutFileError",
    when: "The device reports an error while a file is written or synced.",
    fix: "Check the disk, then resume the run: the file is repaired when it is opened.",
  },
  {
    code: "ROLLOUT_WRITER_CLOSED",
    class: "RolloutFileError",
    when: "A line was to be written to a file that is already closed.",
    fix: "Report it: this is a mistake in the program.",
  },
  {
    code: "ROLLOUT_LINE_TOO_LONG",
    class: "RolloutLineError",
    when: "A line is longer than any row can be.",
    fix: "Check that the file is JSONL: one row per line.",
  },
  {
    code: "ROLLOUT_LINE_NOT_UTF8",
    class: "RolloutLineError",
    when: "A line holds bytes that are no UTF-8.",
    fix: "Convert the file to UTF-8.",
  },
  {
    code: "ROLLOUT_ROW_NOT_JSON",
    class: "RolloutLineError",
    when: "A line is blank or no JSON.",
    fix: "Correct or remove the line named.",
  },
  {
    code: "ROLLOUT_ROW_INVALID",
    class: "RolloutLineError",
    when: "A row lacks something it must have, or has it in the wrong shape.",
    fix: "Correct the row at the line named.",
  },
  {
    code: "ROLLOUT_ROWS_WITHOUT_AGENT",
    class: "RolloutError",
    when: "Rows name no agent.",
    fix: "Give one with `--agent`, or add `agent_ref` to the rows.",
  },
  {
    code: "ROLLOUT_INPUT_POPULATED",
    class: "RolloutError",
    when: "A prompt config would overwrite inputs that rows already have.",
    fix: "Drop the prompt config, or the rows' `responses_create_params.input`.",
  },
  {
    code: "ROLLOUT_REPEATS_INVALID",
    class: "RolloutError",
    when: "`num_repeats` is no positive whole number, or says nothing about an agent.",
    fix: "Give a number of at least 1, or add the agent or `_default` to the mapping.",
  },
  {
    code: "ROLLOUT_PROMPT_CONFIG",
    class: "RolloutError",
    when: "A prompt config cannot be read, or its template is malformed.",
    fix: "Give a YAML mapping with a text under `user`; double braces that are meant literally.",
  },
  {
    code: "ROLLOUT_SKILLS",
    class: "RolloutError",
    when: "The skills directory cannot be used.",
    fix: "Give each skill a `SKILL.md` that begins with front matter naming it.",
  },
  {
    code: "ROLLOUT_FOREIGN_OUTPUT",
    class: "RolloutLineError",
    when: "The output holds rollouts of another run.",
    fix: "Choose another `--output`, or give the inputs that belong to it.",
  },
  {
    code: "ROLLOUT_MANIFEST_INVALID",
    class: "RolloutError",
    when: "The manifest of a run is not one this program wrote.",
    fix: "Choose another `--output`, or remove the manifest to resume unchecked.",
  },
  {
    code: "ROLLOUT_RESUME_REFUSED",
    class: "RolloutError",
    when: "The run to be resumed had other inputs or settings.",
    fix: "Use the same ones, choose another `--output`, or resume all the same with `--force`.",
  },
  {
    code: "ROLLOUT_LOCKED",
    class: "RolloutError",
    when: "Another run is writing to the same output.",
    fix: "Wait for it, or choose another `--output`.",
  },
  {
    code: "ROLLOUT_EXPORT",
    class: "RolloutError",
    when: "The filters of an export contradict each other.",
    fix: "Correct the value named.",
  },
  {
    code: "ROLLOUT_NOTHING_IN_COMMON",
    class: "RolloutError",
    when: "Two runs that are to be compared share no task.",
    fix: "Compare runs over the same inputs, or match their tasks the other way with `--match`.",
  },
  {
    code: "ROLLOUT_CANCELLED",
    class: "RolloutCancelled",
    when: "A rollout was stopped on purpose.",
    fix: "Resume the run to do it.",
  },
  {
    code: "ROLLOUT_DEADLINE",
    class: "DeadlineExceeded",
    when: "A rollout or a run took longer than allowed.",
    fix: "Raise the limit, or look at what the stage named was waiting for.",
  },
] as const satisfies readonly ErrorCodeRow[];
