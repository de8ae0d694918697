import { defineResourcesServer } from "nemo-gym";
import { subsetMetrics } from "nemo-gym/metrics";
import { outputText } from "nemo-gym/openai";
import { lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";
import { closeComparison, compareAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathRow } from "../../libraries/math-answers/config.ts";
import { graderConfig, graderOf } from "../../libraries/math-answers/grader.ts";
import { mathMetrics, mathScores } from "../../libraries/math-answers/metrics.ts";

const graderFor = graderOf(["problem", "generation", "expected_answer"]);
const CORRECT = /\[correct\]/i;

/** Answers to physics problems, compared with the expected one; where they differ, a grader reads the whole reply. */
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
  async verify({ config, server, signal, row, response }) {
    const reply = outputText(response);
    const compared = await compareAnswer(server, row.expected_answer, reply, signal);
    if (compared.library_reward > 0.5 || !config.should_use_judge) {
      return { reward: compared.library_reward, ...compared, judge_evaluations: null };
    }
    const grader = await graderFor(server);
    const { question: problem, expected_answer } = row;
    const judged = await grader.grade({ problem, generation: reply, expected_answer }, signal);
    const correct = CORRECT.test(lastPartOfLastMessage(judged.reply) ?? "");
    return { reward: correct ? 1 : 0, ...compared, judge_evaluations: [judged.evaluation] };
  },
});
