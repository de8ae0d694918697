import {
  compilePrompt,
  createJudge,
  defineResourcesServer,
  JudgeError,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { functionCalls } from "nemo-gym/openai";
import { isObject, loadsPlain } from "nemo-gym/python";
import { lastUserText } from "nemo-gym/verify";
import { z } from "zod";
import { type Judgement, judgeCriterion } from "./judge.ts";
import { rubricMetrics } from "./metrics.ts";
import { readRubric } from "./rubric.ts";

const FIELDS = ["question", "generated_answer", "criterion"];

const Config = z.object({
  ...judgeConfig,
  judge_model_server: judgeConfig.judge_model_server.optional(),
  rubric_judge_prompt_template: z.string().nullish(),
  rubric_judge_prompt_template_fpath: z.string().default("prompts/rubric_judge.yaml"),
  /** Readable replies that decide a criterion, and calls to get them. */
  judge_required_successes: z.number().int().default(3),
  judge_max_attempts: z.number().int().default(10),
  judge_max_concurrency: z.number().int().positive().default(4),
  /** Factor of the waits after a failed call, of 2, 4 and 8 seconds. */
  judge_retry_delay_factor: z.number().nonnegative().default(1),
});

const Submission = z.object({ final_result: z.string() });

/** Financial research with a rubric: a judge votes on each criterion. */
export default defineResourcesServer({
  config: Config,
  row: z.object({
    question: z.string(),
    expected_answer: z
      .string()
      .nullish()
      .transform((given) => given ?? null),
    rubric: z.string(),
  }),
  echo: ["expected_answer"],
  reverifyMode: "stateless",
  metrics: rubricMetrics,
  async start(server) {
    const { config } = server;
    const { judge_model_server: name, rubric_judge_prompt_template: template } = config;
    const prompt = template
      ? compilePrompt(template, { fields: FIELDS })
      : (await loadPromptYaml(server, config.rubric_judge_prompt_template_fpath, FIELDS)).user;
    const judge =
      name === undefined
        ? undefined
        : createJudge(
            server,
            { ...config, judge_model_server: name },
            { maxConcurrency: config.judge_max_concurrency },
          );
    return { judge, prompt };
  },
  tools: {
    submit_final_result: {
      description: "Submit the final answer. This ends the task.",
      input: Submission,
      run: ({ input }) => ({ results: JSON.stringify({ success: true, result: input.final_result }) }),
    },
  },
  async verify({ config, row, params, response, state: { judge, prompt }, signal }) {
    const criteria = readRubric(row.rubric);
    const answer = submittedAnswer(response);
    if (answer === undefined) return { ...NOTHING, ...UNSUBMITTED, reward: 0, rubric_total: criteria.length };
    if (criteria.length === 0) return { ...NOTHING, reward: 0, judge_error: "the rubric has no criteria" };
    if (judge === undefined) return { ...NOTHING, reward: 0, judge_error: "judge_model_server is not set" };
    const limits = {
      votes: Math.max(config.judge_required_successes, 1),
      attempts: Math.max(config.judge_max_attempts, 1),
      maxOutputTokens: maxOutputTokens(config.judge_responses_create_params),
      delayUnitMs: config.judge_retry_delay_factor * 1000,
    };
    const judgements = await Promise.all(
      criteria.map((criterion) => {
        const text = prompt.render({
          question: lastUserText(params.input),
          generated_answer: judge.fit(answer),
          criterion: criterion.criteria,
        });
        return judgeCriterion(judge, criterion, text, limits, signal);
      }),
    );
    // Without a single reply there is nothing to score.
    if (judgements.every(({ api_failures, attempts_used }) => api_failures === attempts_used))
      throw new JudgeError(`The judge failed in every call: ${judgements[0]?.failed_reply_samples[0]}`);
    return resultOf(judgements);
  },
});

const NOTHING = {
  rubric_judgements: null,
  rubric_total: null,
  rubric_passed: null,
  rubric_unresolved: null,
  rubric_fraction: null,
  rubric_all_pass: null,
  rubric_partial_credit: null,
  rubric_weighted_fraction: null,
  rubric_weight_total: null,
  rubric_weight_passed: null,
  rubric_dealbreakers_total: null,
  rubric_dealbreakers_failed: null,
  judge_error: null,
};
const UNSUBMITTED = {
  rubric_fraction: 0,
  rubric_all_pass: false,
  rubric_partial_credit: 0,
  rubric_weighted_fraction: 0,
};

function resultOf(judgements: readonly Judgement[]) {
  const passed = judgements.filter(({ score }) => score === 1);
  const unresolved = judgements.filter(({ score }) => score === null);
  const dealbreakers = judgements.filter(({ must_pass }) => must_pass);
  const failed = dealbreakers.filter(({ score }) => score !== 1);
  const weight = (items: readonly Judgement[]) => items.reduce((sum, { severity }) => sum + severity, 0);
  const weighted = weight(passed) / weight(judgements);
  const reward = failed.length > 0 ? 0 : weighted;
  return {
    reward,
    rubric_judgements: judgements,
    rubric_total: judgements.length,
    rubric_passed: passed.length,
    rubric_unresolved: unresolved.length,
    rubric_fraction: passed.length / judgements.length,
    rubric_all_pass: passed.length === judgements.length,
    rubric_partial_credit: reward,
    rubric_weighted_fraction: weighted,
    rubric_weight_total: weight(judgements),
    rubric_weight_passed: weight(passed),
    rubric_dealbreakers_total: dealbreakers.length,
    rubric_dealbreakers_failed: failed.length,
    judge_error: unresolved.length > 0 ? `${unresolved.length} criteria have no verdict` : null,
  };
}

/** The text of the last submission, whatever came before it. */
function submittedAnswer(response: Parameters<typeof functionCalls>[0]): string | undefined {
  const last = functionCalls(response).findLast(({ name }) => name === "submit_final_result");
  try {
    return Submission.safeParse(loadsPlain(last?.arguments ?? "")).data?.final_result;
  } catch {
    return undefined;
  }
}

function maxOutputTokens(params: unknown): number | undefined {
  const value = isObject(params) ? params["max_output_tokens"] : undefined;
  return typeof value === "number" ? value : undefined;
}
