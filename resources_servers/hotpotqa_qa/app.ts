import { defineResourcesServer } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { answerAlternatives, unreliableReason } from "./alternatives.ts";
import { containsAnswer, containsAnswerStrictly } from "./contains-answer.ts";
import { hotpotqaMetrics } from "./metrics.ts";
import { parseAnswer } from "./parse-answer.ts";
import { exactMatch, tokenF1 } from "./squad.ts";

/** Questions with short answers. An answer is correct if it contains the expected one in any of its usual forms. */
export default defineResourcesServer({
  config: z.object({ report_filtered_metrics: laxBool().default(true) }),
  row: z.looseObject({ expected_answer: z.string() }),
  reverifyMode: "stateless",
  metrics: (config) => hotpotqaMetrics(config.report_filtered_metrics),
  verify({ row: { expected_answer: expected }, response }) {
    const answer = parseAnswer(outputText(response));
    const alternatives = answerAlternatives(expected);
    const correct = Number(containsAnswerStrictly(answer, alternatives));
    const reason = unreliableReason(expected);
    return {
      reward: correct,
      extracted_answer: answer === "" ? null : answer,
      answer_em: Number(exactMatch(answer, expected)),
      answer_f1: tokenF1(answer, expected),
      is_correct: Number(containsAnswer(answer, alternatives)),
      is_correct_strict: correct,
      gt_should_remove: reason !== "",
      gt_remove_reason: reason,
    };
  },
});
