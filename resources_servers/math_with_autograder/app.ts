import { defineResourcesServer } from "nemo-gym";
import { firstLabel } from "nemo-gym/verify";
import { z } from "zod";
import { closeComparison, verifyAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathRow } from "../../libraries/math-answers/config.ts";
import { graderOf, promptedConfig } from "../../libraries/math-answers/grader.ts";
import { mathMetrics } from "../../libraries/math-answers/metrics.ts";
import { boxedAnswer } from "./boxed-answer.ts";

const graderFor = graderOf(["problem", "predicted_answer", "expected_answer"]);
const CORRECT = "\\boxed{Correct}";
const INCORRECT = "\\boxed{Incorrect}";

/** Compares mathematical answers with the expected one. If they differ, a grader decides whether the answer is correct. */
export default defineResourcesServer({
  config: z.object(promptedConfig),
  row: z.object(mathRow),
  echo: ["expected_answer"],
  reverifyMode: "stateless",
  metrics: mathMetrics,
  async start(server) {
    await graderFor(server);
  },
  stop: closeComparison,
  verify: (args) =>
    verifyAnswer(args, async (reply, compared) => {
      const { server, signal, row } = args;
      const grader = await graderFor(server);
      const predicted_answer = boxedAnswer(reply) ?? compared.extracted_answer ?? reply;
      const { question: problem, expected_answer } = row;
      const { verdict: verdict_label, evaluation } = await grader.grade(
        { problem, predicted_answer, expected_answer },
        (text) => firstLabel(text, [CORRECT, INCORRECT]),
        signal,
      );
      return { correct: verdict_label === CORRECT, evaluations: [{ ...evaluation, verdict_label }] };
    }),
});
