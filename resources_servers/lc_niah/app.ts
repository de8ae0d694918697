import { defineResourcesServer } from "nemo-gym";
import { outputText, type ResponseCreateParams, textParts } from "nemo-gym/openai";
import { isObject, splitWords, strip } from "nemo-gym/python";
import { z } from "zod";
import { expectedItems, finalAnswerItems, setF1 } from "../../libraries/text-measures/answer-list.ts";
import { ngramOverlap, substringOverlap } from "../../libraries/text-measures/overlap.ts";
import { boundedSimilarity } from "../../libraries/text-measures/similarity.ts";

/** How much of the prompt the reasoning copies, from 0 to 1. */
const overlapRules = {
  // A comparison that takes too long earns nothing.
  seq_match: (reasoning: string, input: string) => boundedSimilarity(reasoning, input) ?? 1,
  ngram16: (reasoning: string, input: string) => ngramOverlap(reasoning, input, 16),
  lcs: substringOverlap,
};
const gradingRules = {
  base: (score: number, _overlap: number) => score,
  multiply: (score: number, overlap: number) => score * (1 - overlap),
  minus: (score: number, overlap: number) => score - overlap,
};

/** Questions about a long list, scored like `graphwalks`; reasoning that copies the prompt lowers the reward. */
export default defineResourcesServer({
  config: z.object({
    overlap_metric_rule: z.enum(keysOf(overlapRules)).default("ngram16"),
    overlap_grading_rule: z.enum(keysOf(gradingRules)).default("multiply"),
  }),
  row: z.looseObject({ expected_answer: z.string() }),
  reverifyMode: "stateless",
  // The comparison of two long texts would block the event loop for too long.
  verifyIn: "pool",
  verify({ config, row, response, params }) {
    const items = finalAnswerItems(outputText(response))?.map((item) => strip(strip(item, "\"'")));
    const answer_score = items
      ? setF1(new Set(items.filter((item) => item !== "")), expectedItems(row.expected_answer))
      : 0;
    const reasoning = comparable(reasoningText(response.output));
    const reasoning_overlap =
      reasoning === ""
        ? 0
        : overlapRules[config.overlap_metric_rule](reasoning, comparable(inputText(params)));
    return {
      reward: gradingRules[config.overlap_grading_rule](answer_score, reasoning_overlap),
      answer_score,
      reasoning_overlap,
    };
  },
});

function keysOf<Rules extends object>(rules: Rules): (keyof Rules & string)[] {
  return Object.keys(rules) as (keyof Rules & string)[];
}

function comparable(text: string): string {
  return splitWords(text.toLowerCase()).join(" ");
}

function reasoningText(output: readonly unknown[]): string {
  const items = output.filter((item) => isObject(item) && item["type"] === "reasoning");
  return items.flatMap((item) => (isObject(item) ? textParts(item["summary"]) : [])).join("");
}

function inputText({ input }: ResponseCreateParams): string {
  if (typeof input === "string") return input;
  return input.flatMap((item) => ("content" in item ? textParts(item.content) : [])).join("\n");
}
