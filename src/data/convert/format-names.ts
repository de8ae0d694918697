/** The formats of rows, in the order in which they are looked for. */
const ROW_FORMATS = [
  "rows",
  "messages",
  "sharegpt",
  "preference",
  "instruction",
  "multiple_choice",
  "question",
] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

export const FORMATS = [...ROW_FORMATS, "lm_eval"] as const;
export type Format = (typeof FORMATS)[number];

const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  rows: "rows of a dataset (responses_create_params)",
  messages: "chat messages",
  sharegpt: "ShareGPT conversations",
  preference: "preference pairs",
  instruction: "instructions with outputs",
  multiple_choice: "multiple-choice questions",
  question: "questions with answers",
  lm_eval: "a task of lm-eval",
};

/** The name of a format for people. */
export function formatName(format: Format): string {
  return FORMAT_NAMES[format];
}

/** What a file holds, by its name: `csv`, `tsv`, `json`, `jsonl`, `parquet` or `yaml`. */
export function containerOf(name: string): string | undefined {
  const [, ending] = /\.(csv|tsv|json|jsonl|ndjson|parquet|ya?ml)(?:\.gz)?$/i.exec(name) ?? [];
  const lower = ending?.toLowerCase();
  return lower === "ndjson" ? "jsonl" : lower === "yml" ? "yaml" : lower;
}
