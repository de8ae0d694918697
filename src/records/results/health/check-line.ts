import { isObject, loadsPlain } from "../../../base/python/json/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import {
  anyTurnCallSucceeded,
  checkEvidence,
  type Finding,
  failedEndings,
  ROLLOUT_CHECKS,
} from "./checks.ts";
import { type Evidence, evidenceOf, isFailed, type ModelCall } from "./evidence.ts";

/** One line of a rollouts file as input of the checks. */
export interface HealthLine {
  text: string;
  number: number;
  /** Zero-based index among the non-blank lines. */
  ordinal: number;
}

/** The findings of one line; duplicates and tasks are evaluated when all lines are known. */
export interface LineHealth {
  task: number | string;
  rollout: number | string;
  stage: number | string | undefined;
  rolloutId: string;
  findings: Finding[];
  unobserved: readonly string[];
  /** See `anyTurnCallSucceeded`. */
  turnCallSucceeded: boolean | undefined;
  stats: LineStats;
}

export interface LineStats {
  calls: number;
  /** Status codes of failed calls. */
  errors: string[];
  endedOnError: boolean;
  replayed: number;
  tokens: { prompt: number; completion: number; capture_prompt: number; capture_completion: number };
}

const NO_STATS: LineStats = {
  calls: 0,
  errors: [],
  endedOnError: false,
  replayed: 0,
  tokens: { prompt: 0, completion: 0, capture_prompt: 0, capture_completion: 0 },
};

/** Lines of a rollouts file that a thread checks. */
export interface HealthTask {
  lines: HealthLine[];
  file: string;
  ignored: string[];
}

/** Checks lines of a rollouts file. The default export, because a pool of threads calls it. */
export default function checkLines({ lines, file, ignored }: HealthTask): LineHealth[] {
  const skipped = new Set(ignored);
  return lines.map((line) => checkLine(line, file, skipped));
}

function checkLine(line: HealthLine, file: string, ignored: ReadonlySet<string>): LineHealth {
  let row: unknown;
  try {
    row = loadsPlain(line.text);
  } catch {
    return unreadable(line, file, ignored, { reason: "the line is not JSON", error: "JSONDecodeError" });
  }
  return isObject(row)
    ? checkRowHealth(row, line.ordinal, ignored)
    : unreadable(line, file, ignored, { reason: "the line is not a JSON object", error: "TypeError" });
}

/** Checks one row. */
export function checkRowHealth(row: Row, ordinal: number, ignored: ReadonlySet<string>): LineHealth {
  const evidence = evidenceOf(row);
  const task = indexOf(row["_ng_task_index"]) ?? ordinal;
  const rollout = indexOf(row["_ng_rollout_index"]) ?? 0;
  const given = row["_ng_rollout_id"];
  return {
    task,
    rollout,
    stage: indexOf(row["_ng_stage_index"]),
    rolloutId: typeof given === "string" ? given : (evidence.trajectory?.rollout_id ?? `${task}-${rollout}`),
    ...checkEvidence(evidence, ignored),
    turnCallSucceeded: anyTurnCallSucceeded(evidence),
    stats: statsOf(evidence),
  };
}

function unreadable(
  { number }: HealthLine,
  file: string,
  ignored: ReadonlySet<string>,
  detail: Finding["detail"],
): LineHealth {
  const task = `__unreadable_record__:input-0:line-${number}`;
  const check = "record_unreadable";
  return {
    task,
    rollout: 0,
    stage: undefined,
    rolloutId: `${task}-0`,
    findings: ignored.has(check) ? [] : [{ check, locator: { source_file: file, line: number }, detail }],
    unobserved: ROLLOUT_CHECKS.filter((id) => id !== check && !ignored.has(id)),
    turnCallSucceeded: undefined,
    stats: NO_STATS,
  };
}

const indexOf = (value: unknown): number | string | undefined =>
  typeof value === "number" || typeof value === "string" ? value : undefined;

/** All calls count here, bound or not. */
function statsOf({ trajectory, usage }: Evidence): LineStats {
  const calls = trajectory?.model_calls ?? [];
  return {
    calls: calls.length,
    errors: calls
      .filter(isFailed)
      .map(({ response_metadata: about }) => String(about?.status_code ?? "unknown")),
    endedOnError: failedEndings(calls).length > 0,
    replayed: calls.length - new Set(calls.map(identityOf)).size,
    tokens: {
      prompt: usage.prompt ?? 0,
      completion: usage.completion ?? 0,
      capture_prompt: sum(calls, "prompt_tokens"),
      capture_completion: sum(calls, "completion_tokens"),
    },
  };
}

function sum(calls: readonly ModelCall[], name: "prompt_tokens" | "completion_tokens"): number {
  return calls.reduce((total, { token_stats: stats }) => total + (stats?.[name] ?? 0), 0);
}

/** A call without an id is unique. */
function identityOf(call: ModelCall): unknown {
  const { response_id: response, model_ref: model } = call.response_metadata ?? {};
  if (call.model_call_id) return call.model_call_id;
  return response ? JSON.stringify([model?.type, model?.name, response]) : call;
}
