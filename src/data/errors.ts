import { type CodesOf, type ErrorTable, GymError } from "../base/errors.ts";

/** Codes of datasets, their rows and their files. */
export const datasetErrorCodes = {
  DatasetError: {
    DATASET_ENTRY_INVALID: {
      when: "An element of an agent's `datasets` lacks a field, or has a wrong type, licence or source.",
      fix: "Correct the named fields; [datasets](datasets.md) lists them all.",
    },
    DATASET_MISSING: {
      when: "A file, a split on the hub or a dataset of the registry does not exist.",
      fix: "Check the name; use `--download` where the dataset has a source.",
    },
    DATASET_FILE: {
      when: "A file cannot be read or written.",
      fix: "Check path, permissions and free space.",
    },
    DATASET_NO_SOURCE: {
      when: "A missing dataset has no `source`, or is a benchmark, which is prepared and not downloaded.",
      fix: "Add a `source` to the entry, or run `gym eval prepare`.",
    },
    DATASET_CREDENTIALS_MISSING: {
      when: "The hub's token, or the registry's address or token, is not configured.",
      fix: "Add the lines shown to `env.yaml`.",
    },
    DATASET_ROW_INVALID: {
      when: "A strict run found invalid rows, a template does not fit a row, or a data file cannot be read.",
      fix: "Correct the named rows; `gym dataset stats FILE` shows every problem.",
    },
    DATASET_ROW_NOT_JSON: {
      when: "A line to be collated or rendered is blank, not UTF-8, not JSON or not an object. Nothing is written.",
      fix: "Correct or remove the named line.",
    },
    DATASET_LINE_TOO_LONG: {
      when: "A line has more than 256 MB.",
      fix: "Use a file with one row per line.",
    },
    DATASET_FIELD_MIXED_TYPES: {
      when: "A row field is text in one place and a number in another.",
      fix: "Use one type for the field throughout the file.",
    },
    DATASET_FIELD_RESERVED: {
      when: "A row field has a name that metrics files reserve, such as that of a built-in statistic.",
      fix: "Rename the field.",
    },
    DATASET_METRICS_CONFLICT: {
      when: "A metrics file on disk does not agree with the data.",
      fix: "Look at the differences; delete the old file, or add `+overwrite_metrics_conflicts=true`.",
    },
    DATASET_METRICS_UNREADABLE: {
      when: "A metrics file on disk is not JSON.",
      fix: "Correct or delete it.",
    },
    DATASET_OUTPUT_OVERWRITES_SOURCE: {
      when: "An output would overwrite an input file: the source of a dataset, the input or the prompt config.",
      fix: "Choose another output.",
    },
    DATASET_PROMPT_CONFLICT: {
      when: "A prompt config would overwrite the input a row already has.",
      fix: "Remove the input from the rows, or remove the prompt config.",
    },
    DATASET_ARGUMENTS_INVALID: {
      when: "The request does not determine one dataset.",
      fix: "Choose one of the names the message lists.",
    },
    DATASET_REMOTE_EXISTS: {
      when: "The version in the registry already has a file of that name.",
      fix: "Use a new version, or pass `--overwrite`.",
    },
    DATASET_NOT_CONFIRMED: {
      when: "A deletion was to be confirmed, but the input ended without an answer.",
      fix: "Answer, or pass `--yes`.",
    },
    DATASET_FORMAT_UNKNOWN: {
      when: "The rows of a file or of a dataset on the hub are in none of the formats that can be converted.",
      fix: "Say what the fields mean with `--map`, or name the format with `--format`.",
    },
    DATASET_LM_EVAL: {
      when: "A task file of lm-evaluation-harness is malformed, or its prompts need Python code.",
      fix: "Look at the key named. Code is not run: write a template, or give processed documents.",
    },
    DATASET_MISFITS: {
      when: "Rows of a source do not fit its format, and the run or `--strict` needs all of them.",
      fix: "Correct the named rows, or convert the file with `gym dataset convert`, which leaves them out and says so.",
    },
    BENCHMARK_NONE: {
      when: "`gym eval prepare` finds no dataset of type benchmark in the config.",
      fix: "Name a benchmark with `--benchmark`; `gym list benchmarks` shows them.",
    },
    BENCHMARK_AMBIGUOUS: {
      when: "An agent has more than one benchmark dataset.",
      fix: "Give each benchmark its own agent.",
    },
    BENCHMARK_SPEC: {
      when: "A `prepare.yaml` has an unknown key or function, or an expression that does not fit a source row.",
      fix: "Look at the file, line and column named, and at the source row.",
    },
    BENCHMARK_SCRIPT: {
      when: "A prepare script is missing, cannot be loaded, has no `prepare`, or fails.",
      fix: "Correct the named script; all are checked before the first one runs.",
    },
    BENCHMARK_SOURCE: {
      when: "The source of a benchmark does not exist or has rows the script cannot convert.",
      fix: "Pass the file of the real dataset, `huggingface`, or nothing for the included rows.",
    },
    BENCHMARK_ARGUMENT: {
      when: "A prepare script written in TypeScript or JavaScript does not read one of the `prepare_script_args`.",
      fix: "Correct the name; the message lists the arguments the script reads.",
    },
    BENCHMARK_OUTPUT: {
      when: "A prepare script returns a path other than the dataset's `jsonl_fpath`, or wrote nothing.",
      fix: "Write the rows to `context.outputPath` and return it.",
    },
  },
} satisfies ErrorTable;

export type DatasetErrorCode = CodesOf<typeof datasetErrorCodes>;

/** A dataset, its rows or its files are not as a command needs them. */
export class DatasetError extends GymError {
  declare readonly code: DatasetErrorCode;

  constructor(code: DatasetErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
