import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { firstLabel, lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";
import { closeComparison, compareAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathRow } from "../../libraries/math-answers/config.ts";
import { graderOf, promptedConfig } from "../../libraries/math-answers/grader.ts";
import { mathMetrics } from "../../libraries/math-answers/metrics.ts";
import { boxedAnswer } from "./boxed-answer.ts";

const graderFor = graderOf(["problem", "predicted_answer", "expected_answer"]);
const CORRECT = "\\boxed{Correct}";
const INCORRECT = "\\boxed{Incorrect}";

/** Mathematical answers, compared with the expected one; where they differ, a grader says whether the answer is correct. */
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
  async verify({ config, server, signal, row, response }) {
    const reply = outputText(response);
    const compared = await compareAnswer(server, row.expected_answer, reply, signal);
    if (compared.library_reward > 0.5 || !config.should_use_judge) {
      return { reward: compared.library_reward, ...compared, judge_evaluations: null };
    }
    const grader = await graderFor(server);
    const predicted_answer = boxedAnswer(reply) ?? compared.extracted_answer ?? reply;
    const { question: problem, expected_answer } = row;
    const graded = await grader.grade({ problem, predicted_answer, expected_answer }, signal);
    const verdict_label = firstLabel(lastPartOfLastMessage(graded.reply) ?? "", [CORRECT, INCORRECT]);
    return {
      reward: verdict_label === CORRECT ? 1 : 0,
      ...compared,
      judge_evaluations: [{ ...graded.evaluation, verdict_label }],
    };
  },
});
