import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { equivalenceScore, gradingRules } from "./score.ts";

/** Answers compared with the expected text by rule: equal, or how much of it is in the same order. */
export default defineResourcesServer({
  config: z.object({ grading_rule: z.enum(gradingRules).default("exact") }),
  row: z.looseObject({ expected_answer: z.string() }),
  verify({ config, row, response }) {
    const score = equivalenceScore(outputText(response), row.expected_answer, config.grading_rule);
    return { reward: score, equivalence_score: score };
  },
});
