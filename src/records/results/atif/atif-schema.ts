import { z } from "zod";
import { PyFloat } from "../../../base/python/numbers/door.ts";
import { RolloutError } from "../../errors.ts";

/**
 * ATIF-v1.7, the agent trajectory interchange format, as far as rollouts are scored from it. Unknown fields are errors,
 * because a field that is not read could change what is scored.
 *
 * @module
 */
const extra = z.record(z.string(), z.unknown()).nullish();
const count = z.number().int().min(0).nullish();
/** The reader keeps `1.0` apart from `1`, for the arguments of calls. */
const float = z.preprocess((value) => (value instanceof PyFloat ? value.value : value), z.number());
const amount = float.refine((value) => value >= 0, "must not be negative").nullish();
const text = z.string().nullish();

const Content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text"), text: z.string(), source: z.null().optional() }),
      z.strictObject({
        type: z.literal("image"),
        source: z.strictObject({
          media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
          path: z.string(),
        }),
        text: z.null().optional(),
      }),
    ]),
  ),
]);
export type AtifContent = z.output<typeof Content>;

const ToolCall = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra,
});

const Result = z.strictObject({
  source_call_id: text,
  content: Content.nullish(),
  subagent_trajectory_ref: z.array(z.unknown()).nullish(),
  extra,
});
export type AtifResult = z.output<typeof Result>;

const StepMetrics = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  cost_usd: amount,
  prompt_token_ids: z.array(z.number().int().min(0)).nullish(),
  completion_token_ids: z.array(z.number().int().min(0)).nullish(),
  logprobs: z.array(float).nullish(),
  extra,
});

const Step = z.strictObject({
  step_id: z.number().int().min(1),
  source: z.enum(["system", "user", "agent"]),
  message: Content,
  timestamp: z.iso.datetime({ offset: true, local: true }).nullish(),
  model_name: text,
  reasoning_effort: z.union([z.string(), float]).nullish(),
  reasoning_content: text,
  tool_calls: z.array(ToolCall).nullish(),
  observation: z.strictObject({ results: z.array(Result) }).nullish(),
  metrics: StepMetrics.nullish(),
  llm_call_count: count,
  is_copied_context: z.boolean().nullish(),
  extra,
});
export type AtifStep = z.output<typeof Step>;

export const AtifTrajectory = z.strictObject({
  schema_version: z.literal("ATIF-v1.7"),
  session_id: text,
  trajectory_id: text,
  agent: z.strictObject({
    name: z.string(),
    version: z.string(),
    model_name: text,
    tool_definitions: z.array(z.record(z.string(), z.unknown())).nullish(),
    extra,
  }),
  steps: z.array(Step).min(1),
  notes: text,
  final_metrics: z
    .strictObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: amount,
      total_steps: count,
      extra,
    })
    .nullish(),
  continued_trajectory_ref: text,
  subagent_trajectories: z.array(z.unknown()).nullish(),
  extra,
});
export type AtifTrajectory = z.output<typeof AtifTrajectory>;

/** A line of the manifest: the rollout that a trajectory is of. */
export const AtifManifestEntry = z.strictObject({
  trajectory_path: z.string().min(1),
  _ng_task_index: z.number().int().min(0),
  _ng_rollout_index: z.number().int().min(0),
  expected_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits")
    .nullish(),
});
export type AtifManifestEntry = z.output<typeof AtifManifestEntry>;

/** A trajectory that cannot be scored; `place` is the position of the reason. */
export class TrajectoryProblem extends RolloutError {
  constructor(place: string, reason: string) {
    super("ROLLOUT_ATIF", `${place}: ${reason}`);
  }
}
