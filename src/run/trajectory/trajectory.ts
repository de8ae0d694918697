import type { z } from "zod";
import type { Row } from "../../records/files/door.ts";
import {
  distinctGaps,
  type Gap,
  Invocation,
  type ObservationBundle,
  ReportedTrajectory,
  ToolCall,
  type Turn,
} from "../../records/trajectory-parts.ts";
import { taskIdOf } from "../../servers/capture/door.ts";
import type { CallRecord } from "./call-record.ts";
import { CallJoin } from "./join-calls.ts";
import { mergeCalls, mergeTools } from "./merge-calls.ts";

/** A rollout in the standard form that viewers and converters read. */
export interface StandardTrajectory {
  schema_version: "1.0";
  task_id: string | null;
  rollout_id: string | null;
  invocations: Invocation[];
  turns: Turn[];
  /** Calls as reported by the agent, completed with recorded ones. */
  model_calls: unknown[];
  tool_calls: ToolCall[];
  gaps: Gap[];
}

interface TrajectorySources {
  input: Row;
  rolloutId: string | undefined;
  /** `ng_trajectory` of the agent's reply. */
  reported: unknown;
  observations: ObservationBundle | undefined;
  /** Undefined when calls are not recorded. */
  calls: readonly CallRecord[] | undefined;
  gaps: readonly Gap[];
}

/** Joins the agent's report, the observations from outside and the calls that model servers recorded. */
export function standardTrajectory(sources: TrajectorySources): StandardTrajectory {
  const { input, observations, calls } = sources;
  const task_id = taskIdOf(input);
  const rollout_id = sources.rolloutId ?? null;
  const reported = readReported(sources.reported);
  const invocations = withoutTwins(
    [...reported.invocations, ...recordsOf(observations, Invocation)],
    (invocation) => invocation.invocation_id,
  );
  const observedTools = recordsOf(observations, ToolCall);
  const turns = withoutTwins(reported.turns, (turn) => JSON.stringify([turn.invocation_id, turn.turn_no]));
  const gaps: Gap[] = [
    ...mismatches(reported, { task_id, rollout_id }),
    ...reported.gaps,
    ...(observations?.gaps ?? []),
    ...sources.gaps,
    ...repeated("invocation", invocations.twins),
    ...repeated("turn", turns.twins),
  ];
  if (calls) gaps.push(...joinCalls(calls, invocations.kept, turns.kept));
  const trajectory: StandardTrajectory = {
    schema_version: "1.0",
    task_id,
    rollout_id,
    invocations: invocations.kept,
    turns: turns.kept.map((turn) => ({ ...turn, task_id, rollout_id })).sort(byTime),
    model_calls: mergeCalls(reported.model_calls, calls ?? [], !isRedacted(gaps)),
    tool_calls: mergeTools(reported.tool_calls, observedTools, invocations.kept),
    gaps: [],
  };
  trajectory.gaps = distinctGaps([...gaps, ...emptyParts(trajectory)]);
  return trajectory;
}

function readReported(value: unknown): ReportedTrajectory {
  if (value === undefined || value === null) return ReportedTrajectory.parse({});
  const parsed = ReportedTrajectory.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const detail = `${issue?.path.join(".")}: ${issue?.message}`;
  return { ...ReportedTrajectory.parse({}), gaps: [{ code: "producer_trajectory_invalid", detail }] };
}

/** The row determines the identity of the trajectory; a different value from the agent is corrected and noted. */
function mismatches(
  reported: ReportedTrajectory,
  own: Pick<StandardTrajectory, "task_id" | "rollout_id">,
): Gap[] {
  const wrong = (["task_id", "rollout_id"] as const).filter(
    (name) => reported[name] !== null && reported[name] !== own[name],
  );
  return wrong.length > 0 ? [{ code: "producer_trajectory_identity_mismatch", detail: wrong.join(",") }] : [];
}

/** An agent that removed images from its history does not want them restored from the recorded bodies. */
const isRedacted = (gaps: readonly Gap[]): boolean =>
  gaps.some(({ code }) => code === "multimodal_history_redacted");

/** The observed records that match a schema. */
function recordsOf<T>(bundle: ObservationBundle | undefined, schema: z.ZodType<T>): T[] {
  return (bundle?.records ?? []).flatMap((record) => {
    const parsed = schema.safeParse(record);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Keeps the first of several items with the same key; `twins` has the keys of the others. */
function withoutTwins<T>(items: readonly T[], keyOf: (item: T) => string): { kept: T[]; twins: string[] } {
  const kept = new Map<string, T>();
  const twins: string[] = [];
  for (const item of items) {
    const key = keyOf(item);
    if (kept.has(key)) twins.push(key);
    else kept.set(key, item);
  }
  return { kept: [...kept.values()], twins };
}

const repeated = (what: string, twins: readonly string[]): Gap[] =>
  twins.map((key) => ({ code: "producer_trajectory_invalid", detail: `repeated ${what} ${key}` }));

function joinCalls(calls: readonly CallRecord[], invocations: Invocation[], turns: Turn[]): Gap[] {
  const join = new CallJoin(calls);
  for (const invocation of invocations)
    invocation.model_calls = join.resolve(invocation.model_calls, invocation.invocation_id, "own");
  for (const turn of turns) turn.model_calls = join.resolve(turn.model_calls, turn.invocation_id, "share");
  // Without a report of the agent, no invocation can own the calls.
  if (invocations.length > 0 || turns.length > 0) join.noteUnowned();
  return join.gaps;
}

function byTime(a: Turn, b: Turn): number {
  return (
    secondsOf(a) - secondsOf(b) || compareText(a.invocation_id, b.invocation_id) || a.turn_no - b.turn_no
  );
}

/** Turns without a time sort last. A finite number, because the difference of infinities is NaN. */
const NO_TIME = Number.MAX_SAFE_INTEGER;

function secondsOf({ timestamp }: Turn): number {
  if (typeof timestamp === "number") return timestamp;
  const parsed = typeof timestamp === "string" ? Date.parse(timestamp) / 1000 : Number.NaN;
  return Number.isNaN(parsed) ? NO_TIME : parsed;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function emptyParts({ model_calls, turns, invocations }: StandardTrajectory): Gap[] {
  const gaps: Gap[] = [];
  if (model_calls.length === 0) gaps.push({ code: "model_calls_unavailable" });
  if (turns.length === 0) gaps.push({ code: "turns_unavailable" });
  if (invocations.every(({ conversation }) => conversation.length === 0))
    gaps.push({ code: "conversation_unavailable" });
  return gaps;
}
