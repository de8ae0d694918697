import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { equivalenceScore, gradingRules } from "./score.ts";

/** Compares answers with the expected text by rule: equality, or the share of text in the same order. */
export default defineResourcesServer({
  config: z.object({ grading_rule: z.enum(gradingRules).default("exact") }),
  row: z.looseObject({ expected_answer: z.string() }),
  verify({ config, row, response }) {
    const score = equivalenceScore(outputText(response), row.expected_answer, config.grading_rule);
    return { reward: score, equivalence_score: score };
  },
});
