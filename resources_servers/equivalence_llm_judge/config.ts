import { judgeConfig } from "nemo-gym";
import { z } from "zod";

export const Config = z.object({
  ...judgeConfig,
  judge_system_message: z.string().nullish(),
  /** A text file with {question}, {expected_answer} and {generated_answer}, next to the server or found like a config file. */
  judge_prompt_template_fpath: z.string().default("prompt_templates/equivalence_llm_judge.txt"),
  /** Unused, as in the original. It is declared so that a config with it gets a warning. */
  judge_prompt_template: z.string().nullish(),
  judge_equal_label: z.string().default("[[A=B]]"),
  judge_not_equal_label: z.string().default("[[A!=B]]"),
  question_extract_regex: z.string().nullish(),
  response_extract_regex: z.string().nullish(),
  /** Longer answers get 0 without a judge; null: no limit. */
  max_answer_chars: z.number().int().positive().nullish(),
  /** Unused: an empty answer gets 0 without a judge. It is declared because configs of earlier versions set it. */
  msg_extraction_failure: z.string().default("[NO VALID ANSWER EXTRACTED]"),
  /** Asks again with the two answers swapped before an answer counts as correct. */
  check_twice_swap: z.boolean().default(false),
  reward_if_swap_fails: z.number().default(0),
  /** Whether `template_metadata.output_regex` of the row extracts the answer from the response. */
  use_per_record_regex: z.boolean().default(true),
  /** Expected answers longer than this are compared with the whole response; null disables this. */
  extraction_length_threshold: z.number().nullable().default(120),
  /** Judges the whole response if the answer extracted by the row's pattern is wrong. */
  check_full_generation_on_fail: z.boolean().default(true),
  reward_if_full_generation_succeeds: z.number().default(0.5),
});
export type Config = z.output<typeof Config>;
