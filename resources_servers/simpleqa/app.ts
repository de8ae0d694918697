import { createJudge, defineResourcesServer, type JsonObject, judgeConfig, loadPromptYaml } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { lastTextMessage, requireJudgeText } from "nemo-gym/verify";
import { z } from "zod";
import { readGrade, verdicts } from "./grade.ts";
import { simpleqaMetrics } from "./metrics.ts";

const promptFields = ["question", "expected_answer", "generation"];

const Config = z.object({
  ...judgeConfig,
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** For judges that do not support the Responses API. */
  use_chat_completions_for_judge: laxBool().default(false),
});
type Config = z.output<typeof Config>;

function chatParams({ judge_responses_create_params: params }: Config): JsonObject {
  return {
    max_tokens: params?.["max_output_tokens"] || 64,
    temperature: params?.["temperature"] || 0,
    top_p: params?.["top_p"] || 1,
  };
}

/** Short factual questions: a judge decides whether the answer is correct, incorrect or not attempted. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    id: z
      .union([z.number().int(), z.string()])
      .nullish()
      .transform((id) => id ?? null),
    question: z
      .string()
      .nullish()
      .transform((question) => question ?? null),
    expected_answer: z
      .string()
      .nullish()
      .transform((answer) => answer ?? null),
  }),
  seed: z.looseObject({ question: z.string(), expected_answer: z.string() }),
  metrics: simpleqaMetrics,
  async start(server) {
    const { config } = server;
    const prompt = await loadPromptYaml(server, config.judge_prompt_path, promptFields);
    const chat = config.use_chat_completions_for_judge;
    const judge = createJudge(server, config, chat ? { api: "chat", params: chatParams(config) } : {});
    return { judge, prompt: prompt.user };
  },
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
