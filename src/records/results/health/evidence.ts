import { z } from "zod";
import { isObject } from "../../../base/python/json/door.ts";
import { normalizeUsage } from "../../../wire/convert/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { CallRef, Gap, ModelRef } from "../../trajectory-parts.ts";

const refs = z.array(CallRef).nullish();
const text = z.string().nullish();
const count = z.number().nullish();

const ModelCall = z.object({
  model_call_id: text,
  started_at: count,
  completed_at: count,
  response: z.unknown().optional(),
  response_metadata: z
    .object({
      response_id: text,
      model_ref: ModelRef.nullish(),
      model: text,
      status_code: count,
      response_status: text,
      finish_reason: text,
      error_category: text,
      upstream_attempted: z.boolean().nullish(),
      upstream_status_code: count,
      local_response_reason: text,
    })
    .nullish(),
  token_stats: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      reasoning_tokens: count,
      total_tokens: count,
    })
    .nullish(),
});
export type ModelCall = z.output<typeof ModelCall>;

/** The fields of `ng_trajectory` that the checks read; fields of later versions are ignored. */
const RecordedTrajectory = z.object({
  schema_version: z.literal("1.0"),
  rollout_id: text,
  invocations: z.array(z.object({ invocation_id: z.string(), model_calls: refs })).default([]),
  turns: z
    .array(
      z.object({
        turn_no: z.number().int().min(1),
        answer: z.unknown().optional(),
        reasoning_content: z.unknown().optional(),
        model_calls: refs,
      }),
    )
    .default([]),
  model_calls: z.array(ModelCall).default([]),
  gaps: z.array(Gap).default([]),
});
export type RecordedTrajectory = z.output<typeof RecordedTrajectory>;

/** A reference and the matching recorded calls; exactly one match means that the call is bound. */
export interface Binding {
  ref: CallRef;
  calls: ModelCall[];
}

/** The evidence of one row about its rollout. */
export interface Evidence {
  row: Row;
  trajectory: RecordedTrajectory | undefined;
  /** Why `ng_trajectory` does not match its schema. */
  schemaProblem: string | undefined;
  gapCodes: ReadonlySet<string>;
  turnBindings: readonly Binding[];
  /** Of turns and invocations, without repeats. */
  bindings: readonly Binding[];
  /** Calls that a reference binds, without repeats. */
  boundCalls: readonly ModelCall[];
  /** Totals of `response.usage`. */
  usage: { prompt: number | null; completion: number | null };
}

export function evidenceOf(row: Row): Evidence {
  const given = row["ng_trajectory"];
  const parsed = given === undefined || given === null ? undefined : RecordedTrajectory.safeParse(given);
  const [issue] = parsed?.error?.issues ?? [];
  const trajectory = parsed?.data;
  const usable = trajectory?.gaps.some(({ code }) => code === "trajectory_projection_failed")
    ? undefined
    : trajectory;
  const turnRefs = usable?.turns.flatMap(({ model_calls }) => model_calls ?? []) ?? [];
  const ownRefs = usable?.invocations.flatMap(({ model_calls }) => model_calls ?? []) ?? [];
  const bind = (ref: CallRef): Binding => ({ ref, calls: candidates(ref, usable?.model_calls ?? []) });
  const bindings = distinctRefs([...turnRefs, ...ownRefs]).map(bind);
  const usage = normalizeUsage(isObject(row["response"]) ? row["response"]["usage"] : undefined);
  return {
    row,
    trajectory: usable,
    schemaProblem: issue && `${["ng_trajectory", ...issue.path].join(".")}: ${issue.message}`,
    gapCodes: new Set(usable?.gaps.map(({ code }) => code)),
    turnBindings: distinctRefs(turnRefs).map(bind),
    bindings,
    boundCalls: boundCalls(bindings),
    usage: { prompt: usage.tokens_in, completion: usage.tokens_out },
  };
}

/** The bound calls; a call with several references counts once. */
export function boundCalls(bindings: readonly Binding[]): ModelCall[] {
  return [...new Set(bindings.flatMap(({ calls }) => (calls.length === 1 ? calls : [])))];
}

export const isComplete = (bindings: readonly Binding[]): boolean =>
  bindings.length > 0 && bindings.every(({ calls }) => calls.length === 1);

function distinctRefs(given: readonly CallRef[]): CallRef[] {
  const distinct = new Map<string, CallRef>();
  for (const ref of given) {
    const { model_call_id: id, model_ref: model, response_id: response } = ref;
    const key = JSON.stringify([id ?? null, model?.type ?? null, model?.name ?? null, response ?? null]);
    if (!distinct.has(key)) distinct.set(key, ref);
  }
  return [...distinct.values()];
}

/** A reference binds by id, or by model and response id; never by position, time or name alone. */
function candidates(ref: CallRef, calls: readonly ModelCall[]): ModelCall[] {
  const { model_call_id: id, model_ref: model, response_id: response } = ref;
  return calls.filter((call) => {
    const { model_ref: ownModel, response_id: ownResponse } = call.response_metadata ?? {};
    if (id && call.model_call_id !== id) return false;
    if (model && (ownModel?.type !== model.type || ownModel.name !== model.name)) return false;
    return !response || ownResponse === response;
  });
}

/** The name of a call in findings: its id, else its response's, else its position. */
export function callIdOf(call: ModelCall, calls: readonly ModelCall[]): string {
  return call.model_call_id || call.response_metadata?.response_id || String(calls.indexOf(call));
}

const FAILED_STATUS = new Set(["failed", "error", "cancelled"]);

export function isFailed({ response_metadata: about }: ModelCall): boolean {
  if (!about) return false;
  const { status_code: status, error_category: category, response_status: answer } = about;
  return (
    (typeof status === "number" && status >= 400) || Boolean(category) || FAILED_STATUS.has(answer ?? "")
  );
}

export function isSuccessful(call: ModelCall): boolean {
  const status = call.response_metadata?.status_code ?? null;
  return !isFailed(call) && (status === null || (status >= 200 && status < 400));
}

/** A prompt that exceeded the model's context does not mean that the endpoint is broken. */
export function overflowedContext({ response_metadata: about }: ModelCall): boolean {
  const reason = "context_length_exceeded";
  return (
    about?.upstream_attempted === true &&
    about.upstream_status_code === 400 &&
    (about.local_response_reason === reason || about.error_category === reason)
  );
}

/**
 * The calls of each model in order of their start; unordered if a time is missing and calls both failed and succeeded.
 */
export function callsByModel(calls: readonly ModelCall[]): { calls: ModelCall[]; ordered: boolean }[] {
  const groups = new Map<string, ModelCall[]>();
  for (const call of calls) {
    const { type, name } = call.response_metadata?.model_ref ?? { type: "", name: "" };
    const key = JSON.stringify([type, name]);
    groups.set(key, [...(groups.get(key) ?? []), call]);
  }
  return [...groups.values()].map((own) => {
    const timed = own.every(({ started_at }) => typeof started_at === "number");
    const failed = own.filter(isFailed).length;
    const sorted = timed ? [...own].sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0)) : own;
    return { calls: sorted, ordered: timed || failed === 0 || failed === own.length };
  });
}
