import {
  allAssistantText,
  createJudge,
  defineResourcesServer,
  type JsonObject,
  judgeConfig,
  loadPromptText,
} from "nemo-gym";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { isObject, loadsPlain, strip } from "nemo-gym/python";
import { firstLabel, type JudgeReply, lastLabel, lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";
import { boundedSimilarity } from "../../libraries/text-measures/similarity.ts";
import { HARNESSES } from "./harness.ts";

/** Labels at the end of the judge's reply count before others. */
const VERDICT_LENGTH = 200;

const Config = z
  .object({
    ...judgeConfig,
    judge_model_server: judgeConfig.judge_model_server.nullish(),
    judge_system_message: z.string().nullable().default(null),
    judge_prompt_template_fpath: z.string().default("prompts/judge.txt"),
    judge_equal_label: z.string().default("[[A=B]]"),
    judge_not_equal_label: z.string().default("[[A!=B]]"),
    /** Asks a second time with the turns swapped; both verdicts must be equal. */
    check_twice_swap: laxBool().default(false),
    reward_if_swap_fails: laxFloat().default(0),
    enable_string_similarity: laxBool().default(false),
    string_similarity_threshold: laxFloat().default(0.95),
    enable_llm_judge: laxBool().default(true),
  })
  .refine(({ enable_llm_judge, judge_model_server }) => !enable_llm_judge || judge_model_server != null, {
    error: "is required unless enable_llm_judge is false",
    path: ["judge_model_server"],
  });

const Row = z.object({
  uuid: z
    .unknown()
    .optional()
    .transform((uuid) => uuid ?? null),
  expected_answer: z.string().nullish(),
  metadata: z
    .looseObject({ harness: z.unknown().optional(), expected_answer: z.string().nullish() })
    .nullish()
    .transform((metadata) => metadata ?? null),
  threshold: laxFloat()
    .nullish()
    .transform((threshold) => threshold ?? null),
});

/** The next turn of a terminal agent: its keystrokes are compared with those of an expert, by a program and by a judge. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.refine((row) => Boolean(row.expected_answer || row.metadata?.expected_answer), {
    path: ["expected_answer"],
    params: { pydantic: "missing" },
  }),
  reverifyMode: "stateless",
  async start(server) {
    const { enable_llm_judge, judge_model_server, ...config } = server.config;
    if (!enable_llm_judge || judge_model_server == null) return undefined;
    const fields = ["expected_answer", "generated_answer"];
    const prompt = await loadPromptText(server, config.judge_prompt_template_fpath, fields);
    const { judge_system_message: systemMessage } = config;
    return { judge: createJudge(server, { ...config, judge_model_server }, { systemMessage }), prompt };
  },
  async verify({ config, state, row, response, signal }) {
    const expected = row.expected_answer || row.metadata?.expected_answer || "";
    const judge_evaluations: JsonObject[] = [];
    const found: JsonObject = {
      expected_answer: expected,
      model_output: "",
      parsed_output: null,
      similarity_score: null,
      schema_check_passed: null,
      task_complete_check_passed: null,
      string_similarity_passed: null,
      judge_passed: null,
      judge_evaluations,
    };
    const failed = (failure_reason: string, reward = 0) => ({ ...found, reward, failure_reason });
    const passed = () => ({ ...found, reward: 1, failure_reason: "none" });

    if (expected === "") return failed("expected_answer_invalid");
    const text = allAssistantText(response);
    if (text === "") return failed("model_output_invalid");
    const answer = strip(text.split("</think>").at(-1) ?? "");
    found["model_output"] = answer;
    const gold = readObject(expected);
    if (gold === undefined) return failed("expected_answer_invalid");
    const parsed = readObject(answer);
    if (parsed === undefined) return failed("model_output_invalid");
    found["parsed_output"] = parsed;
    const turnOf = HARNESSES.get(row.metadata?.harness);
    if (turnOf === undefined) return failed("unknown_harness");
    const [wanted, given] = [turnOf(gold), turnOf(parsed)];
    if (wanted === undefined) return failed("expected_answer_invalid");
    found["schema_check_passed"] = given !== undefined;
    if (given === undefined) return failed("schema_check_failed");
    found["task_complete_check_passed"] = given.isComplete || !wanted.isComplete;
    if (!found["task_complete_check_passed"]) return failed("task_complete_check_failed");

    if (config.enable_string_similarity) {
      // A comparison that takes too long is one with a text that is much longer than the expert's.
      const score = boundedSimilarity(wanted.keystrokes, given.keystrokes) ?? 0;
      found["similarity_score"] = score;
      const isSimilar = score >= (row.threshold ?? config.string_similarity_threshold);
      found["string_similarity_passed"] = isSimilar;
      if (isSimilar) return passed();
      if (state === undefined) return failed("string_similarity_below_threshold");
    }
    if (state === undefined) return passed();
    const { judge, prompt } = state;

    const labels = [config.judge_equal_label, config.judge_not_equal_label];
    const areEqual = async (expected_answer: string, generated_answer: string) => {
      const { verdict, params, response } = await judge.ask(
        prompt.render({
          expected_answer: judge.fit(expected_answer),
          generated_answer: judge.fit(generated_answer),
        }),
        { signal, parse: (_: string, reply: JudgeReply) => readVerdict(reply, labels) },
      );
      judge_evaluations.push({ responses_create_params: params, response, verdict_label: verdict });
      return verdict === null ? null : verdict === config.judge_equal_label;
    };
    const first = await areEqual(expected, answer);
    if (first === null) return failed("judge_parsing_failed");
    const second = first && config.check_twice_swap ? await areEqual(answer, expected) : first;
    if (second === null) return failed("judge_swap_parsing_failed");
    found["judge_passed"] = second;
    if (second) return passed();
    return failed("judge_not_equivalent", first ? config.reward_if_swap_fails : 0);
  },
});

function readObject(text: string): JsonObject | undefined {
  try {
    const value = loadsPlain(text, { allowNonFinite: true });
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readVerdict(reply: JudgeReply, labels: readonly string[]): string | null {
  const text = lastPartOfLastMessage(reply) ?? "";
  return lastLabel(text.slice(-VERDICT_LENGTH), labels) ?? firstLabel(text, labels);
}
