import {
  compilePrompt,
  createJudge,
  defineResourcesServer,
  JudgeError,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { laxBool, laxFloat, laxInt, type Response } from "nemo-gym/openai";
import { caseFold, strip } from "nemo-gym/python";
import { type JudgeMessage, lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";
import { readAnswer } from "./answer.ts";
import { arenaMetrics } from "./metrics.ts";
import { promptSlices } from "./slices.ts";
import { readVerdict, rewardOf, type Verdict } from "./verdict.ts";

const FIELDS = ["question", "answer_a", "answer_b"];

const Config = z.object({
  ...judgeConfig,
  /** Template of the user message, and its system message; default: those of `judge_prompt_path`. */
  judge_prompt_template: z.string().nullish(),
  judge_system_message: z.string().nullish(),
  judge_system_message_by_category: z.record(z.string(), z.string()).default({}),
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** How often a verdict with `>>` counts. */
  verdict_weight: laxInt().pipe(z.number().min(1)).default(1),
  score_both_bad_as_tie: laxBool().default(true),
  /** `reference_length` (version 3): an answer must have a length comparable with that of a reference. */
  style_control_method: z.enum(["bradley_terry", "reference_length"]).default("reference_length"),
  style_length_ratio_range: z.tuple([laxFloat(), laxFloat()]).nullish(),
  style_short_reference_tokens: laxInt().default(100),
  style_short_response_tokens: laxInt().default(175),
  /** Other names of the model under test: its answers are not compared with its own. */
  policy_model_aliases: z.array(z.string()).default([]),
  /** Answers are kept and not judged. */
  generation_only: laxBool().default(false),
  bootstrap_rounds: laxInt().pipe(z.number().min(1)).default(100),
  bootstrap_seed: laxInt().default(42),
  slice_min_prompts: laxInt().default(50),
});
export type Config = z.output<typeof Config>;

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);
const list = z.array(z.string()).default([]);

const Row = z.object({
  question_id: z.string(),
  question: z.string(),
  baseline_answer: z.string(),
  category: z.string(),
  baseline_model: text,
  metadata: z.record(z.string(), z.unknown()).nullish(),
  prompt_slices: z.record(z.string(), list).nullish(),
  self_comparison: z
    .boolean()
    .nullish()
    .transform((given) => given ?? false),
  style_reference_token_count: z
    .number()
    .nullish()
    .transform((given) => given ?? null),
  is_lmarena_v2_prompt: z.boolean().default(false),
});

interface Game {
  verdict: Verdict | null;
  judge_text: string | null;
}

/** Answers of two models to prompts of an arena; a judge compares them in both orders. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  echo: [
    ...([
      "question_id",
      "question",
      "baseline_answer",
      "category",
      "baseline_model",
      "self_comparison",
    ] as const),
    ...(["style_reference_token_count", "is_lmarena_v2_prompt"] as const),
  ],
  reverifyMode: "stateless",
  metrics: arenaMetrics,
  async start(server) {
    const { judge_prompt_template: template, judge_system_message, judge_prompt_path } = server.config;
    const file = await loadPromptYaml(server, judge_prompt_path, FIELDS);
    return {
      judge: createJudge(server, server.config),
      prompt: template == null ? file.user : compilePrompt(template, { fields: FIELDS }),
      system: judge_system_message ?? file.system?.render({}) ?? "",
    };
  },
  async verify({ config, row, params, response, state: { judge, prompt, system }, signal }) {
    const slices = row.prompt_slices ?? {};
    const isGiven = Object.values(slices).some((names) => names.length > 0);
    const prompt_slices = isGiven ? slices : promptSlices(row.metadata ?? {}, params.input);
    const nothing = { reward: 0, policy_answer: null, policy_reasoning: null, games: null, prompt_slices };
    const version3 = config.style_control_method === "reference_length";
    const isSelf = row.self_comparison || (version3 && isSameModel(row.baseline_model, response, config));
    if (isSelf && !config.generation_only) return { ...nothing, self_comparison: true };

    const { answer, reasoning } = readAnswer(response);
    const unjudged = { ...nothing, policy_answer: answer || null, policy_reasoning: reasoning || null };
    const isCut = version3 && response.incomplete_details?.reason === "max_output_tokens";
    if (config.generation_only || isCut || answer === "") return unjudged;

    const failures: string[] = [];
    const message = config.judge_system_message_by_category[row.category] || system;
    const play = async (answer_a: string, answer_b: string): Promise<Game> => {
      const content = prompt.render({
        question: row.question,
        answer_a: judge.fit(answer_a),
        answer_b: judge.fit(answer_b),
      });
      const messages: JudgeMessage[] = [
        { role: "system", content: message },
        { role: "user", content },
      ];
      try {
        const parse = (_: string, reply: Parameters<typeof lastPartOfLastMessage>[0]) =>
          readVerdict(lastPartOfLastMessage(reply) ?? "");
        const reply = await judge.ask(messages, { signal, parse });
        return { verdict: reply.verdict, judge_text: lastPartOfLastMessage(reply) };
      } catch (error) {
        if (!(error instanceof JudgeError)) throw error;
        failures.push(error.message);
        return { verdict: null, judge_text: null };
      }
    };
    const games = await Promise.all([play(answer, row.baseline_answer), play(row.baseline_answer, answer)]);
    return {
      ...unjudged,
      reward: rewardOf(games[0].verdict, games[1].verdict, config.verdict_weight),
      games,
      // A game that nobody judged is not lost.
      ...(failures[0] !== undefined && {
        _ng_failure_class: "judge_failed",
        _ng_failure_judge_error: failures[0],
      }),
    };
  },
});

function isSameModel(
  baseline: string | null,
  { model }: Response,
  { policy_model_aliases }: Config,
): boolean {
  const plain = (name: string) => caseFold(strip(name)).replace(/\/+$/, "");
  return (
    baseline !== null &&
    [model ?? "", ...policy_model_aliases].some((name) => plain(name) === plain(baseline))
  );
}
