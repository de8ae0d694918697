import { judgeConfig } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { z } from "zod";

const server = judgeConfig.judge_model_server
  .nullish()
  .transform((name: string | null | undefined) => name ?? undefined);
const params = z.record(z.string(), z.unknown()).nullish();

export const Config = z.object({
  ...judgeConfig,
  judge_model_server: server,
  /** Plays what has no model server of its own. */
  simulator_model_server: server,
  user_model_server: server,
  tool_simulator_model_server: server,
  user_responses_create_params: params,
  tool_simulator_responses_create_params: params,
  /** Calls of a model until its reply has the required form. */
  generation_attempts: laxInt().pipe(z.number().min(1)).default(3),
  /** Calls of the judge until its endpoint answers. */
  judge_provider_attempts: laxInt().pipe(z.number().min(1)).default(3),
  judge_provider_retry_initial_backoff_seconds: laxFloat().default(0.5),
  judge_provider_retry_max_backoff_seconds: laxFloat().default(8),
  enable_llm_judge: laxBool().default(true),
  /** Whether the judge stops at the first message that fails. */
  enable_termination: laxBool().default(true),
  verification_type: z.enum(["message", "complete_trajectory_combined_evaluation"]).default("message"),
  /** Whether the customer must be transferred exactly if the scenario lies outside the policy. */
  enforce_transfer_ground_truth: laxBool().default(false),
  user_prompt_path: z.string().default("prompts/user.yaml"),
  tool_simulator_prompt_path: z.string().default("prompts/tool.yaml"),
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
});
export type Config = z.output<typeof Config>;
