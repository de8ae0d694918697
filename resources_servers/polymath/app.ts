import { defineResourcesServer } from "nemo-gym";
import { laxFloat, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { closeComparison, compareAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathConfig, mathRow } from "../../libraries/math-answers/config.ts";
import { judgeEquivalence } from "../../libraries/math-answers/judge-equivalence.ts";
import { weightedMetrics } from "./weighted-metrics.ts";

/** Problems in many languages, weighted by their difficulty; answers are compared as `math_with_judge` does it. */
export default defineResourcesServer({
  config: z.object(mathConfig),
  row: z.object({
    ...mathRow,
    weight: laxFloat()
      .nullish()
      .transform((weight) => weight ?? null),
    language: z
      .string()
      .nullish()
      .transform((language) => language ?? null),
  }),
  echo: ["expected_answer", "weight", "language"],
  reverifyMode: "stateless",
  metrics: weightedMetrics,
  stop: closeComparison,
  async verify({ config, server, signal, row, response }) {
    const reply = outputText(response);
    const compared = await compareAnswer(server, row.expected_answer, reply, signal);
    if (compared.library_reward > 0.5 || !config.should_use_judge) {
      return { reward: compared.library_reward, ...compared, judge_evaluations: null };
    }
    const answers = [row.expected_answer, compared.extracted_answer ?? reply] as const;
    const { equal, evaluations } = await judgeEquivalence(server, row.question, answers, signal);
    return { reward: equal ? 1 : 0, ...compared, judge_evaluations: evaluations };
  },
});
