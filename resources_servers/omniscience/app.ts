import { defineResourcesServer } from "nemo-gym";
import { letterGrade, requireJudgeText, statedGrade, stripThinking } from "nemo-gym/verify";
import { z } from "zod";
import {
  answerJudgeConfig,
  finalAnswer,
  optionalId,
  optionalText,
  startAnswerJudge,
} from "../../libraries/answer-judge/answer-judge.ts";
import { omniscienceMetrics, verdicts } from "./metrics.ts";

const LETTERS = ["A", "B", "C", "D"] as const;

/** Questions of fact: a judge decides whether the answer is correct, incorrect, partially correct or not attempted. */
export default defineResourcesServer({
  config: z.object(answerJudgeConfig),
  row: z.looseObject({
    id: optionalId(),
    domain: optionalText(),
    topic: optionalText(),
    question: optionalText(),
    expected_answer: optionalText(),
  }),
  seed: z.looseObject({ question: z.string(), expected_answer: z.string() }),
  metrics: omniscienceMetrics,
  start: (server) => startAnswerJudge(server, ["question", "expected_answer", "generation"]),
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const generation = finalAnswer(response);
    const expected_answer = row.expected_answer ?? "";
    const text = prompt.render({
      question: row.question ?? "",
      expected_answer: judge.fit(expected_answer),
      generation: judge.fit(generation),
    });
    const readable = (reply: string) =>
      config.use_chat_completions_for_judge ? reply : stripThinking(reply);
    const parse = (reply: string) => statedGrade(readable(reply), LETTERS);
    const asked = await judge.ask(text, { signal, parse });
    const judge_output = requireJudgeText(asked, readable(asked.text));
    // Of an unclear reply the first letter anywhere counts, and without one it is incorrect, as in the original.
    const verdict = verdicts[asked.verdict ?? letterGrade(judge_output, LETTERS) ?? "B"];
    const is_correct = Number(verdict === "correct");
    const is_incorrect = Number(verdict === "incorrect");
    return {
      reward: is_correct,
      extracted_answer: generation,
      expected_answer,
      verdict,
      judge_output,
      is_correct,
      is_incorrect,
      is_partial: Number(verdict === "partial"),
      is_not_attempted: Number(verdict === "not_attempted"),
      omniscience_index: is_correct - is_incorrect,
      is_hallucination: is_incorrect,
    };
  },
});
