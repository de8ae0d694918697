import type { PrepareContext } from "nemo-gym";
import { convertRows } from "../../libraries/aime/convert.ts";

/** Converts the problems of AIME 2024 from a file, from the dataset on the hub (`source: huggingface`), or from our sample rows. */
export async function prepare({ source }: { source?: string }, context: PrepareContext): Promise<string> {
  const file = await context.sourceFile(source, {
    own: "data/source.jsonl",
    hub: { repository: "HuggingFaceH4/aime_2024", split: "train" },
  });
  return context.writeRows(convertRows(context.readRows(file)));
}
