import type { LineHealth, LineStats } from "./check-line.ts";
import { type Finding, HEALTH_CHECKS, ROLLOUT_CHECKS, TASK_CHECKS } from "./checks.ts";

export type HealthVerdict = "healthy" | "unhealthy" | "unobserved";

/** One line of `rollout_verdicts.jsonl`. */
export interface RolloutVerdict {
  _ng_task_index: number | string;
  _ng_rollout_index: number | string;
  rollout_id: string;
  verdict: HealthVerdict;
  findings: Finding[];
  /** Checks without evidence in the row. */
  unobserved: readonly string[];
  stage_index?: number | string;
}

type VerdictCounts = Record<HealthVerdict, number>;

/** `quality_summary.json`. */
export interface QualitySummary {
  run: {
    ignored_checks: string[];
    artifacts: {
      records: number;
      /** Rows with at least one recorded model call. */
      captures: number;
      coverage: Record<string, { evaluated: number; unobserved: number; ignored: number }>;
    };
    verdicts: VerdictCounts;
    issues: Record<string, number>;
    stats: {
      model_call_errors: {
        total: number;
        by_status: Record<string, number>;
        rollouts_affected: number;
        ended_on_error: number;
      };
      duplicated_calls: { replayed: number; rollouts: number };
      tokens: LineStats["tokens"];
    };
  };
  tasks: Record<string, VerdictCounts & { repeats: number; flags: string[] }>;
}

/** A finding determines the verdict, else a check without evidence. */
export function healthVerdictOf({
  findings,
  unobserved,
}: Pick<LineHealth, "findings" | "unobserved">): HealthVerdict {
  if (findings.length > 0) return "unhealthy";
  return unobserved.length > 0 ? "unobserved" : "healthy";
}

/** Sorts lines by task, rollout and stage, numbers before strings, and marks those with the same identity. */
export function arrange(lines: LineHealth[], ignored: ReadonlySet<string>): void {
  lines.sort(
    (a, b) => compare(a.task, b.task) || compare(a.rollout, b.rollout) || compare(a.stage ?? 0, b.stage ?? 0),
  );
  if (ignored.has(DUPLICATE)) return;
  for (let start = 0; start < lines.length; ) {
    let end = start + 1;
    while (end < lines.length && isSameRollout(lines[start], lines[end])) end++;
    if (end - start > 1)
      for (const line of lines.slice(start, end))
        line.findings.push({ check: DUPLICATE, detail: { duplicate_count: end - start } });
    start = end;
  }
  for (const { findings } of lines) findings.sort((a, b) => rankOf(a) - rankOf(b));
}

const DUPLICATE = "rollout_duplicate_identity";
const rankOf = ({ check }: Finding): number => HEALTH_CHECKS.indexOf(check);

function compare(left: number | string, right: number | string): number {
  if (typeof left !== typeof right) return typeof left === "number" ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function isSameRollout(left: LineHealth | undefined, right: LineHealth | undefined): boolean {
  return left?.task === right?.task && left?.rollout === right?.rollout && left?.stage === right?.stage;
}

export function verdictLine(line: LineHealth): RolloutVerdict {
  return {
    _ng_task_index: line.task,
    _ng_rollout_index: line.rollout,
    rollout_id: line.rolloutId,
    verdict: healthVerdictOf(line),
    findings: line.findings,
    unobserved: line.unobserved,
    stage_index: line.stage,
  };
}

/** Sums up arranged lines. */
export function summarizeHealth(lines: readonly LineHealth[], ignored: ReadonlySet<string>): QualitySummary {
  const issues = Object.fromEntries(HEALTH_CHECKS.map((check) => [check, 0]));
  const unobserved = Object.fromEntries(HEALTH_CHECKS.map((check) => [check, 0]));
  const verdicts: VerdictCounts = { healthy: 0, unhealthy: 0, unobserved: 0 };
  for (const line of lines) {
    verdicts[healthVerdictOf(line)]++;
    for (const { check } of line.findings) issues[check] = (issues[check] ?? 0) + 1;
    for (const check of line.unobserved) unobserved[check] = (unobserved[check] ?? 0) + 1;
  }
  const tasks = taskReports(lines, ignored);
  for (const task of tasks.values()) {
    for (const check of task.flags) issues[check] = (issues[check] ?? 0) + 1;
    for (const check of task.undecided) unobserved[check] = (unobserved[check] ?? 0) + 1;
  }
  const coverage = Object.fromEntries(
    HEALTH_CHECKS.map((check) => {
      const total = (ROLLOUT_CHECKS as readonly string[]).includes(check) ? lines.length : tasks.size;
      const without = unobserved[check] ?? 0;
      return [
        check,
        ignored.has(check)
          ? { evaluated: 0, unobserved: 0, ignored: total }
          : { evaluated: total - without, unobserved: without, ignored: 0 },
      ];
    }),
  );
  return {
    run: {
      ignored_checks: [...ignored].sort(),
      artifacts: {
        records: lines.length,
        captures: lines.filter(({ stats }) => stats.calls > 0).length,
        coverage,
      },
      verdicts,
      issues,
      stats: statsOf(lines),
    },
    tasks: Object.fromEntries(
      [...tasks].map(([task, { undecided: _undecided, ...report }]) => [task, report]),
    ),
  };
}

function statsOf(lines: readonly LineHealth[]): QualitySummary["run"]["stats"] {
  const by_status: Record<string, number> = {};
  const tokens = { prompt: 0, completion: 0, capture_prompt: 0, capture_completion: 0 };
  for (const { stats } of lines) {
    for (const status of stats.errors) by_status[status] = (by_status[status] ?? 0) + 1;
    for (const name of Object.keys(tokens) as (keyof typeof tokens)[]) tokens[name] += stats.tokens[name];
  }
  const count = (holds: (stats: LineStats) => boolean) => lines.filter(({ stats }) => holds(stats)).length;
  return {
    model_call_errors: {
      total: lines.reduce((sum, { stats }) => sum + stats.errors.length, 0),
      by_status,
      rollouts_affected: count(({ errors }) => errors.length > 0),
      ended_on_error: count(({ endedOnError }) => endedOnError),
    },
    duplicated_calls: {
      replayed: lines.reduce((sum, { stats }) => sum + stats.replayed, 0),
      rollouts: count(({ replayed }) => replayed > 0),
    },
    tokens,
  };
}

type TaskReport = QualitySummary["tasks"][string] & { undecided: string[] };

function taskReports(
  lines: readonly LineHealth[],
  ignored: ReadonlySet<string>,
): Map<number | string, TaskReport> {
  const repeatsOf = new Map<number | string, Map<string, LineHealth[]>>();
  for (const line of lines) {
    const repeats = repeatsOf.get(line.task) ?? new Map<string, LineHealth[]>();
    repeatsOf.set(line.task, repeats);
    const key = JSON.stringify([line.rollout, line.stage ?? null]);
    repeats.set(key, [...(repeats.get(key) ?? []), line]);
  }
  return new Map([...repeatsOf].map(([task, repeats]) => [task, taskReport([...repeats.values()], ignored)]));
}

/** `repeats`: the lines of each repeat. Several lines of a repeat are duplicates and count once. */
function taskReport(repeats: readonly LineHealth[][], ignored: ReadonlySet<string>): TaskReport {
  const counts: VerdictCounts = { healthy: 0, unhealthy: 0, unobserved: 0 };
  for (const lines of repeats) {
    const own = new Set(lines.map(healthVerdictOf));
    const [verdict = "unobserved"] = own;
    counts[own.size === 1 ? verdict : "unobserved"]++;
  }
  const observed = counts.healthy + counts.unhealthy;
  const succeeded = repeats.flat().map(({ turnCallSucceeded }) => turnCallSucceeded);
  const decided: Record<(typeof TASK_CHECKS)[number], boolean | undefined> = {
    task_consistently_unhealthy: observed >= 2 ? counts.healthy === 0 : observed > 0 ? false : undefined,
    task_no_successful_model_calls: succeeded.includes(undefined) ? undefined : !succeeded.includes(true),
  };
  const active = TASK_CHECKS.filter((check) => !ignored.has(check));
  return {
    repeats: repeats.length,
    ...counts,
    flags: active.filter((check) => decided[check] === true),
    undecided: active.filter((check) => decided[check] === undefined),
  };
}
