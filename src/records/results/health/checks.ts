import { isObject } from "../../../base/python/json/door.ts";
import { HOSTED_CALL_TYPES } from "../../../wire/schemas/door.ts";
import {
  boundCalls,
  callIdOf,
  callsByModel,
  type Evidence,
  isComplete,
  isFailed,
  isSuccessful,
  type ModelCall,
  overflowedContext,
  type RecordedTrajectory,
} from "./evidence.ts";

/** A problem of a rollout. */
export interface Finding {
  check: string;
  locator?: Record<string, unknown>;
  detail: Record<string, unknown>;
}

type Found = Omit<Finding, "check">;

/** Findings of one check; undefined: the row has no evidence for it. */
type RolloutCheck = (evidence: Evidence, trajectory: RecordedTrajectory) => Found[] | undefined;

const CALL_GAPS = [
  "model_calls_unavailable",
  "model_call_capture_incomplete",
  "model_call_capture_records_unreadable",
  "model_call_capture_unreadable",
];

const TURN_GAPS = ["turns_unavailable"];
const SCOPE_GAP = "turn_model_call_scope_incomplete";

const CONTRADICTIONS: Record<string, string> = {
  model_call_reference_unmatched: "missing_captured_call",
  model_call_reference_ambiguous: "duplicated_captured_call",
  model_call_reference_conflict: "conflicting_call_ownership",
};

const LENGTH_LIMITED = new Set(["length", "max_output_tokens", "max_tokens"]);

const unlessGap =
  (gaps: readonly string[], check: RolloutCheck): RolloutCheck =>
  (evidence, trajectory) =>
    gaps.some((code) => evidence.gapCodes.has(code)) ? undefined : check(evidence, trajectory);

/** A check of every bound call; `find` returns the detail of a finding, undefined without one. */
const perCall = (find: (call: ModelCall, evidence: Evidence) => Found["detail"] | undefined): RolloutCheck =>
  unlessGap(CALL_GAPS, (evidence, { model_calls: calls }) => {
    if (evidence.boundCalls.length === 0) return undefined;
    return evidence.boundCalls.flatMap((call) => {
      const detail = find(call, evidence);
      return detail ? [{ locator: { call_id: callIdOf(call, calls) }, detail }] : [];
    });
  });

/** Checks that read `ng_trajectory`, in the order of the registry. */
const TRAJECTORY_CHECKS: Record<string, RolloutCheck> = {
  rollout_missing_agent_turns: unlessGap(TURN_GAPS, (_evidence, { turns }) =>
    turns.some((turn) => isSpoken(turn) || (turn.model_calls?.length ?? 0) > 0)
      ? []
      : [{ detail: { reason: "no turn has content, a tool call or a model call" } }],
  ),
  rollout_ended_on_failed_model_call: unlessGap(CALL_GAPS, (_evidence, { model_calls: calls }) => {
    if (calls.length === 0) return undefined;
    return failedEndings(calls).map(({ last, own }) => ({
      locator: { call_id: callIdOf(last, calls) },
      detail: {
        ...failureOf(last),
        observed_calls: own.length,
        successful_calls: own.filter(isSuccessful).length,
      },
    }));
  }),
  agent_turn_hollow: unlessGap(TURN_GAPS, (_evidence, { turns }) =>
    turns
      .filter((turn) => !isSpoken(turn))
      .map(({ turn_no }) => ({
        locator: { turn: turn_no },
        detail: { reason: "the turn has no answer content, reasoning or tool call" },
      })),
  ),
  model_call_zero_completion_tokens: perCall((call) =>
    call.token_stats?.completion_tokens === 0 && !overflowedContext(call)
      ? { completion_tokens: 0 }
      : undefined,
  ),
  model_call_missing_token_counts: perCall((call) => {
    const missing = (["prompt_tokens", "completion_tokens"] as const).filter(
      (name) => (call.token_stats?.[name] ?? null) === null,
    );
    return missing.length > 0 && !overflowedContext(call) ? { missing } : undefined;
  }),
  trajectory_capture_mismatch: unlessGap(CALL_GAPS, captureMismatches),
  model_call_failed: perCall((call, { trajectory }) =>
    isFailed(call)
      ? {
          ...failureOf(call),
          terminal: failedEndings(trajectory?.model_calls ?? []).some(({ last }) => last === call),
        }
      : undefined,
  ),
  rollout_token_count_mismatch: unlessGap([...CALL_GAPS, SCOPE_GAP], tokenMismatch),
  model_call_runaway_generation: unlessGap(CALL_GAPS, runawayGenerations),
};

/** The problems of a row, and the checks that had no data. */
export interface RowFindings {
  findings: Finding[];
  unobserved: string[];
}

/** Runs all checks of one row except the ignored ones. A check that throws is reported and counts as unobserved. */
export function checkEvidence(evidence: Evidence, ignored: ReadonlySet<string>): RowFindings {
  const result: RowFindings = { findings: [], unobserved: [] };
  if (evidence.schemaProblem !== undefined && !ignored.has("record_unreadable"))
    result.findings.push({
      check: "record_unreadable",
      detail: { reason: evidence.schemaProblem, error: "ValidationError" },
    });
  for (const [check, run] of Object.entries(TRAJECTORY_CHECKS)) {
    if (ignored.has(check)) continue;
    try {
      const found = evidence.trajectory && run(evidence, evidence.trajectory);
      if (found) result.findings.push(...found.map((finding) => ({ check, ...finding })));
      else result.unobserved.push(check);
    } catch (error) {
      result.unobserved.push(check);
      if (ignored.has("check_execution_error")) continue;
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const detail = { reason: message, failed_check: check, error: name };
      result.findings.unshift({ check: "check_execution_error", detail });
    }
  }
  return result;
}

/** Checks of single rows, in the order in which reports list them. */
export const ROLLOUT_CHECKS = [
  "check_execution_error",
  "record_unreadable",
  "rollout_duplicate_identity",
  ...Object.keys(TRAJECTORY_CHECKS),
] as const;

/** Checks of all repeats of a task: they flag the task and change no verdict. */
export const TASK_CHECKS = ["task_consistently_unhealthy", "task_no_successful_model_calls"] as const;

export const HEALTH_CHECKS: readonly string[] = [...ROLLOUT_CHECKS, ...TASK_CHECKS];

/** Whether the turns of a rollout name their calls, and whether one of these succeeded; undefined: unknown. */
export function anyTurnCallSucceeded({ gapCodes, turnBindings }: Evidence): boolean | undefined {
  if (gapCodes.has(SCOPE_GAP) || !isComplete(turnBindings)) return undefined;
  return boundCalls(turnBindings).some(isSuccessful);
}

/** The models whose last call failed. */
export function failedEndings(calls: readonly ModelCall[]): { last: ModelCall; own: ModelCall[] }[] {
  return callsByModel(calls).flatMap(({ calls: own, ordered }) => {
    const last = own.at(-1);
    return last && ordered && isFailed(last) ? [{ last, own }] : [];
  });
}

function isSpoken({ answer, reasoning_content }: RecordedTrajectory["turns"][number]): boolean {
  return hasContent(answer) || hasContent(reasoning_content) || hasToolCall(answer);
}

function failureOf({ response_metadata: about }: ModelCall) {
  return { status: about?.status_code ?? null, error_category: about?.error_category ?? null };
}

function captureMismatches({ bindings }: Evidence, { gaps }: RecordedTrajectory): Found[] | undefined {
  const contradictions = gaps.filter(({ code }) => CONTRADICTIONS[code] !== undefined);
  if (bindings.length === 0 && contradictions.length === 0) return undefined;
  const unbound = bindings
    .filter(({ calls }) => calls.length !== 1)
    .map(({ ref, calls }) => ({
      locator: { call_id: ref.model_call_id || ref.response_id },
      detail: {
        kind: calls.length === 0 ? "missing_captured_call" : "duplicated_captured_call",
        count: calls.length,
      },
    }));
  const isKnown = (kind: string | undefined, callId: string | undefined) =>
    unbound.some(({ locator, detail }) => detail.kind === kind && locator.call_id === callId);
  const conflicting = contradictions
    .filter(({ code, detail }) => !isKnown(CONTRADICTIONS[code], detail))
    .map(({ code, detail, invocation_id }) => ({
      locator: { call_id: detail ?? null },
      detail: {
        kind: CONTRADICTIONS[code],
        observation_gap: code,
        invocation_id: invocation_id ?? null,
      },
    }));
  return [...unbound, ...conflicting];
}

function tokenMismatch({ usage, turnBindings, bindings }: Evidence): Found[] | undefined {
  const counted = turnBindings.length > 0 ? turnBindings : bindings;
  if (!isComplete(counted) || usage.prompt === null || usage.completion === null) return undefined;
  let prompt = 0;
  let completion = 0;
  for (const { token_stats: stats } of boundCalls(counted)) {
    if (typeof stats?.prompt_tokens !== "number" || typeof stats.completion_tokens !== "number")
      return undefined;
    prompt += stats.prompt_tokens;
    completion += stats.completion_tokens;
  }
  if (prompt === usage.prompt && completion === usage.completion) return [];
  return [
    {
      detail: {
        transcript_prompt: usage.prompt,
        transcript_completion: usage.completion,
        capture_prompt: prompt,
        capture_completion: completion,
      },
    },
  ];
}

function runawayGenerations(
  evidence: Evidence,
  { model_calls: calls }: RecordedTrajectory,
): Found[] | undefined {
  if (evidence.boundCalls.length === 0) return undefined;
  const cut = evidence.boundCalls.filter(
    (call) => LENGTH_LIMITED.has(call.response_metadata?.finish_reason ?? "") && !overflowedContext(call),
  );
  if (cut.some(({ response }) => response === null || response === undefined)) return undefined;
  return cut
    .filter(({ response }) => !responseHasContent(response))
    .map((call) => ({
      locator: { call_id: callIdOf(call, calls) },
      detail: { finish_reason: call.response_metadata?.finish_reason },
    }));
}

const CONTENT_FIELDS = [
  "text",
  "content",
  "output_text",
  "answer",
  "refusal",
  "encrypted_content",
  "reasoning",
  "reasoning_content",
  "summary",
] as const;

const TOOL_CALL_TYPES = new Set<string>(["function_call", "tool_call", "tool_use", ...HOSTED_CALL_TYPES]);

/** Whether a value holds text that a model wrote, at any depth of its content fields. */
function hasContent(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (Array.isArray(value)) return value.some(hasContent);
  return isObject(value) && CONTENT_FIELDS.some((field) => hasContent(value[field]));
}

/** Whether a value is, or contains, a tool call of a model. */
function hasToolCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasToolCall);
  if (!isObject(value)) return false;
  if (TOOL_CALL_TYPES.has(String(value["type"]))) return true;
  const calls = value["tool_calls"];
  return (Array.isArray(calls) && calls.length > 0) || hasToolCall(value["content"]);
}

/** Whether a saved response of any dialect holds content. */
function responseHasContent(response: unknown): boolean {
  if (!isObject(response)) return hasContent(response);
  const choices = Array.isArray(response["choices"]) ? response["choices"] : [];
  const messages = choices.map((choice: unknown) =>
    isObject(choice) ? (choice["message"] ?? choice) : choice,
  );
  return hasContent(response) || hasContent(response["output"]) || hasContent(messages);
}
