import { type ErrorCodeRow, GymError } from "../errors.ts";

/** Codes of datasets, their rows and their files. */
export const datasetErrorCodes = [
  {
    code: "DATASET_ENTRY_INVALID",
    class: "DatasetError",
    when: "An element of an agent's `datasets` lacks a field, or has a wrong type, licence or source.",
    fix: "Correct the named fields; [datasets](datasets.md) lists them all.",
  },
  {
    code: "DATASET_MISSING",
    class: "DatasetError",
    when: "A file, a split on the hub or a dataset of the registry does not exist.",
    fix: "Check the name; use `--download` where the dataset has a source.",
  },
  {
    code: "DATASET_FILE",
    class: "DatasetError",
    when: "A file cannot be read or written.",
    fix: "Check path, permissions and free space.",
  },
  {
    code: "DATASET_NO_SOURCE",
    class: "DatasetError",
    when: "A missing dataset has no `source`, or is a benchmark, which is prepared and not downloaded.",
    fix: "Add a `source` to the entry, or run `gym eval prepare`.",
  },
  {
    code: "DATASET_CREDENTIALS_MISSING",
    class: "DatasetError",
    when: "The hub's token, or the registry's address or token, is not configured.",
    fix: "Add the lines shown to `env.yaml`.",
  },
  {
    code: "DATASET_ROW_INVALID",
    class: "DatasetError",
    when: "A strict run found invalid rows, a template does not fit a row, or a data file cannot be read.",
    fix: "Correct the rows named; `gym dataset stats FILE` shows every problem.",
  },
  {
    code: "DATASET_ROW_NOT_JSON",
    class: "DatasetError",
    when: "A line that is to be collated or rendered is blank, not UTF-8, not JSON or not an object. Nothing is written.",
    fix: "Correct or remove the line named.",
  },
  {
    code: "DATASET_LINE_TOO_LONG",
    class: "DatasetError",
    when: "A line has more than 256 MB.",
    fix: "Give a file with one row per line.",
  },
  {
    code: "DATASET_FIELD_MIXED_TYPES",
    class: "DatasetError",
    when: "A row field is text in one place and a number in another.",
    fix: "Use one type for the field throughout the file.",
  },
  {
    code: "DATASET_FIELD_RESERVED",
    class: "DatasetError",
    when: "A row field has a name that metrics files keep for themselves, such as that of a built-in statistic.",
    fix: "Rename the field.",
  },
  {
    code: "DATASET_METRICS_CONFLICT",
    class: "DatasetError",
    when: "A metrics file on disk does not agree with the data.",
    fix: "Look at the differences; delete the old file, or add `+overwrite_metrics_conflicts=true`.",
  },
  {
    code: "DATASET_METRICS_UNREADABLE",
    class: "DatasetError",
    when: "A metrics file on disk is not JSON.",
    fix: "Correct or delete it.",
  },
  {
    code: "DATASET_OUTPUT_OVERWRITES_SOURCE",
    class: "DatasetError",
    when: "An output would take the place of a file that is read: the source of a dataset, the input or the prompt config.",
    fix: "Choose another output.",
  },
  {
    code: "DATASET_PROMPT_CONFLICT",
    class: "DatasetError",
    when: "A prompt config would overwrite the input a row already has.",
    fix: "Remove the input from the rows, or do without the prompt config.",
  },
  {
    code: "DATASET_ARGUMENTS_INVALID",
    class: "DatasetError",
    when: "The request does not determine one dataset.",
    fix: "Choose one of the names the message lists.",
  },
  {
    code: "DATASET_REMOTE_EXISTS",
    class: "DatasetError",
    when: "The version in the registry already holds a file of that name.",
    fix: "Raise the version, or allow `--overwrite`.",
  },
  {
    code: "DATASET_NOT_CONFIRMED",
    class: "DatasetError",
    when: "A deletion was to be confirmed, but the input ended without an answer.",
    fix: "Answer, or give `--yes`.",
  },
  {
    code: "BENCHMARK_NONE",
    class: "DatasetError",
    when: "`gym eval prepare` finds no dataset of type benchmark in the config.",
    fix: "Name a benchmark with `--benchmark`; `gym list benchmarks` shows them.",
  },
  {
    code: "BENCHMARK_AMBIGUOUS",
    class: "DatasetError",
    when: "An agent has more than one benchmark dataset.",
    fix: "Give each benchmark an agent of its own.",
  },
  {
    code: "BENCHMARK_SCRIPT",
    class: "DatasetError",
    when: "A prepare script is missing, cannot be loaded, has no `prepare`, or fails.",
    fix: "Correct the script named; all are checked before the first one runs.",
  },
  {
    code: "BENCHMARK_SOURCE",
    class: "DatasetError",
    when: "The source of a benchmark does not exist or has rows the script cannot convert.",
    fix: "Give the file of the real dataset, `huggingface`, or nothing for the rows that come with it.",
  },
  {
    code: "BENCHMARK_ARGUMENT",
    class: "DatasetError",
    when: "A prepare script written in TypeScript or JavaScript does not read one of the `prepare_script_args`.",
    fix: "Correct the name; the message lists the arguments the script reads.",
  },
  {
    code: "BENCHMARK_OUTPUT",
    class: "DatasetError",
    when: "A prepare script gives another path than the dataset's `jsonl_fpath`, or wrote nothing.",
    fix: "Write the rows to `context.outputPath` and return it.",
  },
] as const satisfies readonly ErrorCodeRow[];

export type DatasetErrorCode = (typeof datasetErrorCodes)[number]["code"];

/** A dataset, its rows or its files are not as a command needs them. */
export class DatasetError extends GymError {
  declare readonly code: DatasetErrorCode;

  constructor(code: DatasetErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
