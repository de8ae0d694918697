import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { stripThinking } from "nemo-gym/verify";
import { z } from "zod";
import {
  answerJudgeConfig,
  finalAnswer,
  optionalId,
  optionalText,
  startAnswerJudge,
} from "../../libraries/answer-judge/answer-judge.ts";
import { frontierscienceMetrics } from "./metrics.ts";
import { readScore, readVerdict } from "./verdict.ts";

const Config = z.object({
  ...answerJudgeConfig,
  /** `olympiad`: the judge says yes or no. `research`: it gives points for a rubric. */
  judge_mode: z.enum(["olympiad", "research"]).default("olympiad"),
  rubric_pass_score_threshold: z.number().default(7),
  rubric_max_score: z.number().positive().default(10),
});

/** Problems of science: a judge compares the answer with the expected one, or gives points for a rubric. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    id: optionalId(),
    subject: optionalText(),
    question: optionalText(),
    expected_answer: optionalText(),
    rubric: optionalText(),
  }),
  seed: z
    .looseObject({
      question: z.string(),
      expected_answer: z.string().nullish(),
      rubric: z.string().nullish(),
    })
    .refine(({ expected_answer, rubric }) => expected_answer || rubric, {
      error: "Field required, or a rubric",
      path: ["expected_answer"],
    }),
  metrics: frontierscienceMetrics,
  start: (server) =>
    startAnswerJudge(server, ["question", "expected_answer", "rubric", "generation"], chatParams),
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const generation = finalAnswer(response);
    const expected = row.expected_answer ?? "";
    const text = prompt.render({
      question: row.question ?? "",
      expected_answer: judge.fit(expected),
      rubric: judge.fit(row.rubric || expected),
      generation: judge.fit(generation),
    });
    const { judge_mode, rubric_max_score: max, rubric_pass_score_threshold: threshold } = config;
    const parse = (reply: string) => {
      const judge_output = stripThinking(reply);
      const verdict = readVerdict(judge_output);
      const score = judge_mode === "research" ? readScore(judge_output, max) : null;
      return verdict === null && score === null ? null : { verdict, score };
    };
    const asked = await judge.ask(text, { signal, parse });
    const { verdict = null, score = null } = asked.verdict ?? {};
    const passed = score === null ? verdict === "YES" : score >= threshold;
    return {
      reward: Number(passed),
      extracted_answer: generation || null,
      expected_answer: expected,
      verdict: score === null ? verdict : (verdict ?? (passed ? "YES" : "NO")),
      judge_output: stripThinking(asked.text),
      rubric_score: score,
      rubric_score_normalized: score === null ? null : Math.min(Math.max(score, 0), max) / max,
      invalid_judge_response: judge_mode === "research" && score === null,
    };
  },
});

function chatParams({
  judge_mode,
  judge_responses_create_params: params,
}: z.output<typeof Config>): JsonObject {
  const temperature = params?.["temperature"] ?? (judge_mode === "olympiad" ? 0 : undefined);
  const top_p = params?.["top_p"] ?? (judge_mode === "olympiad" ? 1 : undefined);
  return {
    max_tokens: params?.["max_output_tokens"] || 2048,
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
  };
}
