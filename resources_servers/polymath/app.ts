import { defineResourcesServer } from "nemo-gym";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { closeComparison } from "../../libraries/math-answers/compare-answer.ts";
import { mathConfig, mathRow } from "../../libraries/math-answers/config.ts";
import { verifyWithJudge } from "../../libraries/math-answers/judge-equivalence.ts";
import { weightedMetrics } from "./weighted-metrics.ts";

/** Problems in many languages, weighted by difficulty; answers are compared as in `math_with_judge`. */
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
  verify: verifyWithJudge,
});
