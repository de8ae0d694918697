import { type ChatPrompt, createJudge, defineResourcesServer, judgeConfig, loadPromptYaml } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import type { JudgeMessage } from "nemo-gym/verify";
import { z } from "zod";
import { arenaMetrics } from "./metrics.ts";
import { readVerdict } from "./verdict.ts";

const Config = z
  .object({
    ...judgeConfig,
    judge_chat_completions_create_params: z.record(z.string(), z.unknown()).default({}),
    /** A YAML file (`user`, optionally `system`) for each category. */
    judge_prompt_paths: z.record(z.string(), z.string()).default({
      hard_prompt: "prompts/hard_prompt.yaml",
      creative_writing: "prompts/creative_writing.yaml",
    }),
    default_category: z.string().default("hard_prompt"),
    arena_elo_bootstrap_rounds: z.number().int().min(0).default(100),
    arena_elo_bootstrap_seed: z.number().int().default(42),
    /** Replaces characters that are not valid Unicode. */
    sanitize_generations: laxBool().default(false),
  })
  .refine(({ default_category, judge_prompt_paths }) => Object.hasOwn(judge_prompt_paths, default_category), {
    message: "must be one of the categories of judge_prompt_paths",
    path: ["default_category"],
  });

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);

/** A judge compares the answer with that of a baseline model, in both orders. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({ question: text, baseline_answer: text, category: text, uid: text }),
  seed: z.looseObject({ question: z.string(), baseline_answer: z.string() }),
  metrics: arenaMetrics,
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const prompts = new Map<string, ChatPrompt>();
    for (const [category, path] of Object.entries(config.judge_prompt_paths))
      prompts.set(category, await loadPromptYaml(server, path, ["question", "answer_1", "answer_2"]));
    const params = config.judge_chat_completions_create_params;
    return { judge: createJudge(server, config, { api: "chat", params, allowNoChoices: true }), prompts };
  },
  async verify({ config, row, response, state: { judge, prompts }, signal }) {
    const category = prompts.has(row.category ?? "") ? (row.category ?? "") : config.default_category;
    const prompt = prompts.get(category);
    const clean = (answer: string) =>
      judge.fit(config.sanitize_generations ? answer.replace(/\p{Surrogate}/gu, "\uFFFD") : answer);
    const answer = clean(outputText(response));
    const baseline = clean(row.baseline_answer ?? "");
    const compare = async (answer_1: string, answer_2: string) => {
      const fields = { question: row.question ?? "", answer_1, answer_2 };
      const messages: JudgeMessage[] = [];
      if (prompt?.system) messages.push({ role: "system", content: prompt.system.render(fields) });
      messages.push({ role: "user", content: prompt?.user.render(fields) ?? "" });
      return judge.ask(messages, { signal, parse: readVerdict });
    };
    const [first, second] = await Promise.all([compare(answer, baseline), compare(baseline, answer)]);
    return {
      reward: first.verdict === "A>>B" || first.verdict === "A>B" ? 1 : 0,
      judgement_gen_base: outputText(first),
      judgement_base_gen: outputText(second),
      verdict_gen_base: first.verdict,
      verdict_base_gen: second.verdict,
      category,
      invalid_gen_base: first.verdict === null,
      invalid_base_gen: second.verdict === null,
    };
  },
});
