import type { PrepareContext } from "nemo-gym";
import { convertQuestion } from "./convert.ts";
import { readSource } from "./read-source.ts";

interface PrepareArgs {
  readonly source?: string;
  /** `test`, `val` or `dev`. */
  readonly split?: string;
}

/** Converts MMLU from the authors' `data.tar` or its tables, from the dataset on the hub (`source: huggingface`), or from our sample rows. */
export async function prepare(
  { source, split = "test" }: PrepareArgs,
  context: PrepareContext,
): Promise<string> {
  const hubSplit = split === "val" ? "validation" : split;
  const file = await context.sourceFile(source, {
    own: "data/source.jsonl",
    hub: { repository: "cais/mmlu", configName: "all", split: hubSplit },
  });
  return context.writeRows(converted(file, split, context));
}

async function* converted(file: string, split: string, context: PrepareContext) {
  for await (const question of readSource(file, split, context)) yield convertQuestion(question);
}
