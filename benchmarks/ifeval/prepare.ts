import type { PrepareContext } from "nemo-gym";
import { convertRow } from "./convert.ts";

/** Converts IFEval from its `input_data.jsonl`, from the dataset on the hub (`source: huggingface`), or from our sample rows. */
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
