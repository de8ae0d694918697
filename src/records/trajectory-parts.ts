import { z } from "zod";

/**
 * The parts of `ng_trajectory` and `ng_agent_observations`. Input may have more fields; the output has exactly these
 * fields, with null for unknown values.
 *
 * @module
 */
const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((value) => value ?? []);

const text = orNull(z.string());
const number = orNull(z.number());
const json = orNull(z.unknown());

export const ModelRef = z.object({ type: z.string(), name: z.string() });

/** Identifies a model call by its id, or by its server and response id. */
export const CallRef = z
  .object({
    model_call_id: z.string().nullish(),
    model_ref: ModelRef.nullish(),
    response_id: z.string().nullish(),
  })
  .refine((ref) => ref.model_call_id || (ref.model_ref && ref.response_id), {
    message: "a model call is named by model_call_id, or by model_ref and response_id",
  });
export type CallRef = z.output<typeof CallRef>;

const refs = listOf(CallRef);

export const Invocation = z.object({
  kind: z.literal("agent_invocation").default("agent_invocation"),
  invocation_id: z.string().min(1),
  parent_invocation_id: text,
  spawned_by_tool_call_id: text,
  status: z.enum(["completed", "failed", "incomplete", "unknown"]).catch("unknown"),
  duration_ms: number,
  error_type: text,
  model_calls: refs,
  conversation: listOf(z.unknown()),
});
export type Invocation = z.output<typeof Invocation>;

export const Turn = z.object({
  invocation_id: z.string().min(1),
  task_id: text,
  rollout_id: text,
  turn_no: z.number().int().min(1),
  timestamp: orNull(z.union([z.number(), z.string()])),
  question: json,
  answer: json,
  reasoning_content: json,
  resolved: orNull(z.boolean()),
  step_count: number,
  model_calls: refs,
});
export type Turn = z.output<typeof Turn>;

export const ToolCall = z.object({
  kind: z.literal("tool_call").default("tool_call"),
  invocation_id: text,
  tool_call_id: text,
  sandbox_id: text,
  tool_name: text,
  started_at: number,
  completed_at: number,
  duration_ms: number,
  timing_source: z
    .enum(["executor", "artifact", "harness"])
    .nullish()
    .catch(null)
    .transform((value) => value ?? null),
  status: z.enum(["completed", "failed", "timeout", "cancelled", "incomplete", "unknown"]).catch("unknown"),
  error_type: text,
  output: json,
});
export type ToolCall = z.output<typeof ToolCall>;

/** Data known to be missing from the recordings of a rollout. */
export const Gap = z
  .object({ code: z.string(), invocation_id: z.string().nullish(), detail: z.string().nullish() })
  .transform(({ code, invocation_id, detail }) => ({
    code,
    ...(invocation_id != null && { invocation_id }),
    ...(detail != null && { detail }),
  }));
export type Gap = z.output<typeof Gap>;

/** The trajectory that an agent reports. */
export const ReportedTrajectory = z.object({
  task_id: text,
  rollout_id: text,
  invocations: z.array(Invocation).default([]),
  turns: z.array(Turn).default([]),
  /** Present only if the trajectory was joined with recorded calls before. */
  model_calls: z.array(z.unknown()).default([]),
  tool_calls: z.array(ToolCall).default([]),
  gaps: z.array(Gap).default([]),
});
export type ReportedTrajectory = z.output<typeof ReportedTrajectory>;

/** Observations from outside an agent; unknown kinds of records are passed through. */
export const ObservationBundle = z.looseObject({
  source: z.unknown(),
  records: z.array(z.looseObject({ kind: z.string() })).default([]),
  gaps: z.array(Gap).default([]),
});
export type ObservationBundle = z.output<typeof ObservationBundle>;

/** The gaps without duplicates, in order of appearance. */
export function distinctGaps(gaps: readonly Gap[]): Gap[] {
  const seen = new Map<string, Gap>();
  for (const gap of gaps) {
    const key = JSON.stringify([gap.code, gap.invocation_id ?? null, gap.detail ?? null]);
    if (!seen.has(key)) seen.set(key, gap);
  }
  return [...seen.values()];
}
