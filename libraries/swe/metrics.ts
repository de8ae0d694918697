import type { JsonObject, MetricsHooks } from "nemo-gym";
import { passMajorityMetrics } from "nemo-gym/metrics";
import { isTruthy } from "nemo-gym/python";
import { TEST_LISTS } from "./report.ts";

const KEY = [
  "pass@1/accuracy",
  "mean/reward",
  "resolved_task_count",
  "task_count",
  "resolved_task_rate",
  "eval_error_rate",
  "tests_status_rate",
];
const OUTCOMES = ["failure", "success"] as const;

/** Counts over tasks and rollouts: resolved, graded and applied patches, and test results. */
export const sweMetrics: MetricsHooks = {
  compute(tasks) {
    const records = tasks.map(taskRecord);
    const scores = ({ reward }: JsonObject) => ({ accuracy: Number(reward ?? 0) });
    const { per_sample_aggregate: _, ...accuracy } = passMajorityMetrics(tasks, { scores }).metrics;
    const total = (name: string) => records.reduce((sum, record) => sum + Number(record[name]), 0);
    const rollouts = total("rollout_count");
    const rate = (count: number, of: number) => (of === 0 ? 0 : (100 * count) / of);
    const shares = ["eval_error", "eval_report", "tests_status", "patch_applied"].flatMap((name) => {
      const count = total(`${name}_rollout_count`);
      return [
        [`${name}_rollout_count`, count],
        [`${name}_rate`, rate(count, rollouts)],
      ];
    });
    const resolved = records.filter((record) => record["resolved"] === true).length;
    return {
      ...accuracy,
      task_count: records.length,
      rollout_count: rollouts,
      max_rollouts_per_task: Math.max(0, ...tasks.map(({ length }) => length)),
      resolved_task_count: resolved,
      resolved_task_rate: rate(resolved, records.length),
      ...Object.fromEntries(shares),
      ...Object.fromEntries(testCountNames().map((name) => [name, total(name)])),
      per_task_metrics: records,
    };
  },
  key: (all) => {
    const averages = Object.keys(all).filter((name) => /^pass@1\[avg-of-\d+\]\/accuracy$/.test(name));
    const highest = averages.at(-1);
    const names = [...KEY.slice(0, 1), ...(highest === undefined ? [] : [highest]), ...KEY.slice(1)];
    return Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]]));
  },
};

/** Counts for one task: resolved, graded and applied rollouts. */
function taskRecord(rollouts: JsonObject[]): JsonObject {
  const reports = rollouts.map(reportIn);
  const count = (holds: (report: JsonObject | undefined, rollout: JsonObject) => boolean) =>
    reports.filter((report, index) => holds(report, rollouts[index] ?? {})).length;
  const resolved = count((_, { reward }) => Number(reward) === 1);
  const tests = reports.map((report) => objectAt(report, "tests_status"));
  const listed = (list: string, outcome: string) =>
    tests.reduce((sum, status) => sum + lengthOf(objectAt(status, list)?.[outcome]), 0);
  return {
    _ng_task_index: rollouts[0]?.["_ng_task_index"],
    instance_id: rollouts[0]?.["instance_id"],
    rollout_count: rollouts.length,
    resolved: resolved > 0,
    resolved_rollout_count: resolved,
    eval_error_rollout_count: count((_, rollout) => isTruthy(objectAt(rollout, "metadata")?.["error"])),
    eval_report_rollout_count: count((report) => report !== undefined),
    tests_status_rollout_count: tests.filter((status) => isTruthy(status)).length,
    patch_applied_rollout_count: count((report) => isTruthy(report?.["patch_successfully_applied"])),
    ...Object.fromEntries(
      TEST_LISTS.flatMap((list) =>
        OUTCOMES.map((outcome) => [countName(list, outcome), listed(list, outcome)]),
      ),
    ),
  };
}

function testCountNames(): string[] {
  return TEST_LISTS.flatMap((list) => OUTCOMES.map((outcome) => countName(list, outcome)));
}

function countName(list: string, outcome: string): string {
  return `tests_status/${list.toLowerCase()}_${outcome}`;
}

/** The verdict on the patch of a rollout. */
function reportIn(rollout: JsonObject): JsonObject | undefined {
  return objectAt(objectAt(objectAt(rollout, "metadata"), "eval_report"), String(rollout["instance_id"]));
}

function objectAt(value: JsonObject | undefined, key: string): JsonObject | undefined {
  const found = value?.[key];
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? (found as JsonObject)
    : undefined;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
