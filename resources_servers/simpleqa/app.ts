import { defineResourcesServer } from "nemo-gym";
import { lastTextMessage, requireJudgeText } from "nemo-gym/verify";
import { z } from "zod";
import {
  answerJudgeConfig,
  optionalId,
  optionalText,
  startAnswerJudge,
} from "../../libraries/answer-judge/answer-judge.ts";
import { readGrade, verdicts } from "./grade.ts";
import { simpleqaMetrics } from "./metrics.ts";

const promptFields = ["question", "expected_answer", "generation"];

/** Short factual questions: a judge decides whether the answer is correct, incorrect or not attempted. */
export default defineResourcesServer({
  config: z.object(answerJudgeConfig),
  row: z.looseObject({ id: optionalId(), question: optionalText(), expected_answer: optionalText() }),
  seed: z.looseObject({ question: z.string(), expected_answer: z.string() }),
  metrics: simpleqaMetrics,
  start: (server) => startAnswerJudge(server, promptFields),
  async verify({ row, response, state: { judge, prompt }, signal }) {
    const generation = lastTextMessage(response);
    const expected = row.expected_answer ?? "";
    const text = prompt.render({
      question: row.question ?? "",
      expected_answer: judge.fit(expected),
      generation: judge.fit(generation),
    });
    const asked = await judge.ask(text, { signal, parse: readGrade });
    const reply = requireJudgeText(asked);
    // A reply without a grade counts as an answer that was not attempted, as in the original.
    const verdict = verdicts[asked.verdict ?? "C"];
    return {
      reward: verdict === verdicts.A ? 1 : 0,
      extracted_answer: generation,
      expected_answer: expected,
      verdict,
      judge_output: reply,
      is_correct: Number(verdict === verdicts.A),
      is_incorrect: Number(verdict === verdicts.B),
      is_not_attempted: Number(verdict === verdicts.C),
    };
  },
});
