import { createJudge, defineResourcesServer, judgeConfig } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { stripThinking } from "nemo-gym/verify";
import { z } from "zod";
import {
  followsInLanguage,
  isPossibleIn,
  knownLanguage,
  needsJudge,
} from "../../libraries/instructions/verifif/index.ts";
import { AnswerJudge, loadPrompts } from "./judge.ts";
import { Row, readInstruction, rowErrors } from "./row.ts";

const Config = z.object({
  ...judgeConfig,
  judge_base_url: z.null("set the URL in a model server, and its name in judge_model_server").optional(),
  /** Names with gpt-5, o1, o3 or o4-mini use the Responses API, all others chat completions. */
  judge_model: z.string().default("gpt-4.1-2025-04-14"),
  judge_temperature: z.number().default(0.7),
  judge_top_p: z.number().default(0.8),
  judge_max_tokens: z.number().int().positive().default(10_000),
  /** Longer answers are truncated in the middle; null: never. */
  judge_max_user_chars: z.number().int().positive().nullable().default(100_000),
  aggregation_mode: z.enum(["all", "any", "mean", "min", "max"]).default("all"),
});
type Config = z.output<typeof Config>;

/** Constraints that code checks in eleven languages, and constraints that a judge checks. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  echo: [],
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const usesResponses = /gpt-5|o1|o3|o4-mini/i.test(config.judge_model);
    const judge = createJudge(server, config, {
      api: usesResponses ? "responses" : "chat",
      params: usesResponses ? responsesParams(config) : chatParams(config),
      maxValueChars: config.judge_max_user_chars,
    });
    return new AnswerJudge(judge, usesResponses ? "developer" : "system", await loadPrompts(server));
  },
  async verify({ config, row, response, state: judge, signal }) {
    const errors = rowErrors(row);
    if (errors.length > 0)
      return resultOf(
        errors.map((error) => result("schema_validation", false, error)),
        0,
      );
    const language = knownLanguage(row.language);
    const instructions = row.instructions.map(readInstruction);
    const impossible = instructions.filter(({ id }) => !isPossibleIn(language, id)).map(({ id }) => id);
    if (impossible.length > 0) {
      const message = `not possible in the language '${language}': ${impossible.join(", ")}`;
      return resultOf([result("language_compatibility", false, message)], 0);
    }
    const answer = stripThinking(lastAssistantText(response));
    const checked = instructions
      .filter(({ id }) => !needsJudge(id))
      .map((item) =>
        result(item.id, followsInLanguage(language, item.id, item.arguments, answer) !== item.isMisalignment),
      );
    const judged = instructions
      .filter(({ id }) => needsJudge(id))
      .map(async (item) =>
        result(item.id, (await judge.follows(item, answer, signal)) !== item.isMisalignment),
      );
    const asked = row.llm_judge.map(
      async ({ uid, content, pass_criteria, source, is_misalignment_check }) => {
        const isAsExpected = (await judge.question(content, answer, signal)) === (pass_criteria === "YES");
        return result(`llm_judge_${uid}`, isAsExpected !== (source === "user" && is_misalignment_check));
      },
    );
    const results = [...checked, ...(await Promise.all([...judged, ...asked]))];
    return resultOf(
      results,
      aggregate(
        results.map(({ status }) => Number(status === "Passed")),
        config,
      ),
    );
  },
});

function result(instruction: string, passed: boolean, message = passed ? "followed" : "not followed") {
  return { instruction, status: passed ? "Passed" : "Failed", message };
}

function resultOf(results: readonly ReturnType<typeof result>[], reward: number) {
  const followed = results.map(({ status }) => status === "Passed");
  return {
    reward,
    follow_all_instructions: followed.every(Boolean),
    follow_instruction_list: followed,
    validation_results: results,
  };
}

function aggregate(scores: readonly number[], { aggregation_mode: mode }: Config): number {
  if (scores.length === 0) return 1;
  if (mode === "mean") return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return mode === "any" || mode === "max" ? Math.max(...scores) : Math.min(...scores);
}

function chatParams({ judge_model, judge_temperature, judge_top_p, judge_max_tokens }: Config) {
  return {
    model: judge_model,
    temperature: judge_temperature,
    top_p: judge_top_p,
    max_tokens: judge_max_tokens,
  };
}

function responsesParams({ judge_model, judge_max_tokens }: Config) {
  return { model: judge_model, max_output_tokens: judge_max_tokens };
}
