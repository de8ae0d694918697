import type { PrepareContext } from "nemo-gym";
import { convertRow } from "./convert.ts";

/** Converts IFEval: its `input_data.jsonl`, the dataset on the hub (`source: huggingface`), or rows of our own. */
export async function prepare({ source }: { source?: string }, context: PrepareContext): Promise<string> {
  const file = await context.sourceFile(source, {
    own: "data/source.jsonl",
    hub: { repository: "google/IFEval", split: "train" },
  });
  return context.writeRows(converted(context.readRows(file)));
}

async function* converted(rows: AsyncIterable<Record<string, unknown>>) {
  let index = 0;
  for await (const row of rows) yield convertRow(row, index++);
}
