import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { extractAnswer } from "./extract-answer.ts";
import { scoreAnswer } from "./scoring/score-answer.ts";

/** Procedurally generated puzzles; every kind of task has its own scoring. */
export default defineResourcesServer({
  row: z.object({
    question: z.string(),
    answer: z.string().nullable(),
    metadata: z.looseObject({ source_dataset: z.string() }),
  }),
  echo: [],
  reverifyMode: "stateless",
  verify: ({ row, response }) => {
    const answer = extractAnswer(outputText(response));
    const task = row.metadata.source_dataset;
    const score = scoreAnswer(task, answer, row);
    return { reward: score, task_name: task, score, extracted_answer: answer };
  },
});
