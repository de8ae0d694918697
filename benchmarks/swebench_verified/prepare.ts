import type { PrepareContext } from "nemo-gym";
import { readInstance } from "../../libraries/swe/instance.ts";

/** Copies the instances of SWE-bench Verified unchanged; the agent creates the prompt from them. */
export async function prepare({ source }: { source?: string }, context: PrepareContext): Promise<string> {
  const file = await context.sourceFile(source, {
    own: "data/source.jsonl",
    hub: { repository: "princeton-nlp/SWE-bench_Verified", split: "test" },
  });
  return context.writeRows(convertRows(context.readRows(file)));
}

async function* convertRows(rows: AsyncIterable<Record<string, unknown>>) {
  for await (const row of rows) {
    const { instance_id } = readInstance(row);
    yield {
      subset: "verified",
      split: "test",
      ...row,
      instance_id,
      responses_create_params: { input: [] },
    };
  }
}
