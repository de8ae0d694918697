import { defineResourcesServer } from "nemo-gym";
import { passMajorityMetrics, subsetMetrics } from "nemo-gym/metrics";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { closeComparison, compareAnswer } from "../../libraries/math-answers/compare-answer.ts";
import { mathRow } from "../../libraries/math-answers/config.ts";
import { graderConfig, graderOf } from "../../libraries/math-answers/grader.ts";
import { mathKeyMetrics } from "../../libraries/math-answers/metrics.ts";
import { readVerdict } from "./read-verdict.ts";

const graderFor = graderOf(["problem", "solution", "expected_answer", "generation"]);

const scoring = {
  scores: (row: Record<string, unknown>) => ({
    symbolic_accuracy: Number(row["library_reward"] ?? 0),
    judge_accuracy: Number(row["reward"] ?? 0),
  }),
  answerField: "extracted_verdict",
};

/** Undergraduate physics: compares answers with the expected one. If they differ, a grader reads the reply and the solution. */
export default defineResourcesServer({
  config: z.object(graderConfig),
  row: z.looseObject({
    ...mathRow,
    solution: z.string().default(""),
    subject: z
      .string()
      .nullish()
      .transform((subject) => subject ?? null),
  }),
  reverifyMode: "stateless",
  metrics: {
    compute: (tasks) => ({
      ...passMajorityMetrics(tasks, scoring).metrics,
      ...subsetMetrics(tasks, "subject", scoring),
    }),
    key: mathKeyMetrics,
  },
  async start(server) {
    await graderFor(server);
  },
  stop: closeComparison,
  async verify({ config, server, signal, row, response }) {
    const generation = outputText(response);
    const compared = await compareAnswer(server, row.expected_answer, generation, signal);
    const matches = compared.library_reward > 0.5;
    if (matches || !config.should_use_judge) {
      const extracted_verdict = matches ? "TRUE" : "FALSE";
      return { reward: compared.library_reward, ...compared, extracted_verdict, judge_evaluations: null };
    }
    const grader = await graderFor(server);
    const { question: problem, solution, expected_answer } = row;
    const values = { problem, solution, expected_answer, generation };
    const { verdict, evaluation } = await grader.grade(values, readVerdict, signal);
    return {
      reward: verdict === "TRUE" ? 1 : 0,
      ...compared,
      extracted_verdict: verdict,
      judge_evaluations: [evaluation],
    };
  },
});
