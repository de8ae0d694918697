import { defineResourcesServer } from "nemo-gym";
import { functionCalls, type HasOutput } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { Row, SeedRow } from "./row.ts";
import { scoreCitations } from "./score-citations.ts";

/** An answer from search results that must cite them in the given notation, or must not cite at all. */
export default defineResourcesServer({
  row: Row,
  seed: SeedRow,
  reverifyMode: "stateless",
  // The search is over. A model that calls a tool all the same gets this answer, and no reward.
  fallbackTool: { run: () => "No further tool results are available. Provide your final answer." },
  verify({ row: { verifier }, response }) {
    const { gate, ...found } = scoreCitations(textOf(response), functionCalls(response).length, verifier);
    return { reward: gate === null ? 1 : 0, match_details: { gate_failed: gate, ...found } };
  },
});

/** The texts of the assistant messages, without empty ones, joined by newlines. */
function textOf({ output }: HasOutput): string {
  const texts = output.flatMap((item) =>
    item.type === "message" && item.role === "assistant" && Array.isArray(item.content)
      ? item.content.flatMap((part) => (part.type === "output_text" && part.text !== "" ? [part.text] : []))
      : [],
  );
  return strip(texts.join("\n"));
}
