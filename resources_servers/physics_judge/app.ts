import { defineResourcesServer } from "nemo-gym";
import { subsetMetrics } from "nemo-gym/metrics";
import { z } from "zod";
import { closeComparison, verifyAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathRow } from "../../libraries/math-answers/config.ts";
import { graderConfig, graderOf } from "../../libraries/math-answers/grader.ts";
import { mathMetrics, mathScores } from "../../libraries/math-answers/metrics.ts";

const graderFor = graderOf(["problem", "generation", "expected_answer"]);

/** Compares answers to physics problems with the expected one. If they differ, a grader reads the whole reply. */
export default defineResourcesServer({
  config: z.object(graderConfig),
  row: z.object(mathRow),
  echo: ["expected_answer"],
  reverifyMode: "stateless",
  metrics: {
    ...mathMetrics,
    compute: (tasks) => ({
      ...mathMetrics.compute?.(tasks),
      ...subsetMetrics(tasks, "domain", { scores: mathScores, answerField: "extracted_answer" }),
    }),
  },
  async start(server) {
    await graderFor(server);
  },
  stop: closeComparison,
  verify: (args) =>
    verifyAnswer(args, async (generation) => {
      const { server, signal, row } = args;
      const grader = await graderFor(server);
      const { question: problem, expected_answer } = row;
      const values = { problem, generation, expected_answer };
      const { verdict, evaluation } = await grader.grade(values, readVerdict, signal);
      return { correct: verdict === true, evaluations: [evaluation] };
    }),
});

/** Any `[Correct]` counts, as in the original; null without a verdict. */
function readVerdict(text: string): boolean | null {
  if (/\[correct\]/i.test(text)) return true;
  return /\[incorrect\]/i.test(text) ? false : null;
}
