import { createJudge, defineResourcesServer, type JsonObject, judgeConfig, loadPromptYaml } from "nemo-gym";
import { AnswerChecker } from "nemo-gym/math";
import { laxBool } from "nemo-gym/openai";
import { lastBoxed, lastTextMessage, stripThinking } from "nemo-gym/verify";
import { z } from "zod";
import { readJudgement } from "../../libraries/proofs/judgement.ts";
import { proofbenchMetrics } from "./metrics.ts";
import { isSameAnswer } from "./same-answer.ts";

const Config = z.object({
  ...judgeConfig,
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** For judges that do not support the Responses API. */
  use_chat_completions_for_judge: laxBool().default(false),
});

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);

const FIELDS = ["problem", "reference_solution", "rubric", "predicted_answer"];
const NO_ANSWER = "Reasoning: No answer was provided.\nJudgement: No";
const SAME_ANSWER = "Reasoning: The two answers are identical.\nJudgement: Yes";
const PASSING_POINTS = 6;

/** Olympiad problems: the boxed answer is compared, and graded by a judge if it differs. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    ...{ problem_id: text, problem: text, reference_solution: text, rubric: text },
    ...{ category: text, level: text, expected_answer: text, source: text },
  }),
  seed: z.looseObject({ problem: z.string(), reference_solution: z.string() }),
  metrics: proofbenchMetrics,
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const { user } = await loadPromptYaml(server, config.judge_prompt_path, FIELDS);
    const chat = config.use_chat_completions_for_judge;
    const judge = createJudge(server, config, chat ? { api: "chat", params: chatParams(config) } : {});
    return { judge, chat, prompt: user, checker: new AnswerChecker() };
  },
  async verify({ row, response, state: { judge, chat, prompt, checker }, signal }) {
    const answer = lastBoxed(stripThinking(lastTextMessage(response))) ?? "";
    if (answer === "") return result({ answer, output: NO_ANSWER, verdict: false });
    if (await isSameAnswer(checker, row.expected_answer ?? "None", answer, signal))
      return { ...result({ answer, output: SAME_ANSWER, verdict: true }), symbolic_correct: 1 };
    const fields = {
      problem: row.problem ?? "",
      reference_solution: row.reference_solution ?? "",
      rubric: row.rubric ?? "",
      predicted_answer: judge.fit(answer),
    };
    const clean = (reply: string) => (chat ? reply : stripThinking(reply));
    const asked = await judge.ask(prompt.render(fields), {
      signal,
      parse: (reply) => readVerdict(clean(reply)),
    });
    return result({ answer, output: clean(asked.text), verdict: asked.verdict });
  },
  async stop(_server, { checker }) {
    await checker.close();
  },
});

function result({ answer, output, verdict }: { answer: string; output: string; verdict: boolean | null }) {
  const correct = Number(verdict === true);
  return {
    reward: correct,
    extracted_answer: answer,
    judge_output: output,
    judge_points: readPoints(output),
    judge_correct: correct,
    symbolic_correct: 0,
    any_correct: correct,
    no_judge_score: Number(verdict === null),
  };
}

/** `Judgement: Yes`, else `\boxed{Correct}`, else the points; null without any of them. */
function readVerdict(reply: string): boolean | null {
  const judgement = readJudgement(reply);
  if (judgement !== null) return judgement === "Yes";
  const [, boxed] = /\\boxed\s*\{\s*(Correct|Incorrect)\s*\}/i.exec(reply) ?? [];
  if (boxed !== undefined) return boxed.toLowerCase() === "correct";
  const points = readPoints(reply);
  return points === null ? null : points >= PASSING_POINTS;
}

function readPoints(reply: string): number | null {
  const [, points] = /<points>\s*(\d+)\s*out of 7\s*<\/points>/i.exec(reply) ?? [];
  return points === undefined ? null : Number(points);
}

function chatParams({ judge_responses_create_params: params }: z.output<typeof Config>): JsonObject {
  return {
    max_tokens: params?.["max_output_tokens"] || 4096,
    temperature: params?.["temperature"] || 0,
    top_p: params?.["top_p"] || 1,
  };
}
