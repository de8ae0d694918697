import { judgeConfig } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

const { judge_model_server, judge_responses_create_params, ...limits } = judgeConfig;

export const Config = z.object({
  ...limits,
  genrm_model_server: judge_model_server,
  genrm_responses_create_params: judge_responses_create_params,
  num_rollouts_per_prompt: z.number().int().min(1).default(1),
  /** `circular` compares each response with the next one, `all_pairs` every two. */
  comparison_strategy: z.enum(["circular", "all_pairs"]).default("circular"),
  num_judges_per_comparison: z.number().int().min(1).default(1),
  use_principle: laxBool().default(false),
  default_principle: z
    .string()
    .default(
      "Prefer the response that is more helpful: correct, complete, clear and in line with what was asked.",
    ),
  aggregator_method: z.literal("simple_tiebreaker").default("simple_tiebreaker"),
  reasoning_bonus: z.number().default(0),
  answer_bonus: z.number().default(0),
  top_percentile: z.number().default(0.2),
  group_reasoning_length_penalty_coeff: z.number().default(0),
  group_answer_length_penalty_coeff: z.number().default(0),
  group_style_penalty_coeff: z.number().default(0),
  default_score: z.number().default(3),
  default_ranking: z.number().default(3.5),
  genrm_parse_retries: z.number().int().min(0).default(3),
  genrm_parse_retry_sleep_s: z.number().min(0).default(0.2),
  cohort_collection_timeout_s: z.number().positive().default(1800),
  cohort_evaluation_timeout_s: z.number().positive().default(1800),
  cohort_result_ttl_s: z.number().positive().default(3600),
  max_terminal_cohorts: z.number().int().min(0).default(4096),
  num_workers: z
    .number()
    .max(1, "the members of a cohort wait for each other in one process, so the server cannot have several")
    .nullish(),
});
export type Config = z.output<typeof Config>;
