import { readFile } from "node:fs/promises";
import { GymError } from "../../src/base/errors.ts";
import { dumpsCompact } from "../../src/base/python/json/json-dumps.ts";
import { isObject } from "../../src/base/python/json/json-object.ts";
import {
  type AggregateHooks,
  type AggregateMetrics,
  aggregateMetrics,
} from "../../src/records/metrics/aggregate.ts";
import {
  averageSampleDeviations,
  type HighestKOptions,
  highestKMetrics,
  type PassMajorityOptions,
  passMajorityMetrics,
  subsetMetrics,
} from "../../src/records/metrics/pass-at-k.ts";
import { profileRollouts } from "../../src/records/metrics/profile.ts";
import type { Row } from "../../src/records/metrics/rollout-row.ts";
import { difference } from "./difference.ts";
import type { Suite } from "./suite.ts";

const TOLERANCE = { relative: 1e-9, absolute: 1e-9 };

interface Case {
  id: string;
  op: string;
  input: Row;
  expected?: unknown;
  expected_error?: unknown;
}

const operations: Record<string, (input: Row) => unknown> = {
  aggregate: (input) => withoutRepeats(aggregateMetrics(rowsOf(input["verify_responses"]))),
  aggregate_with_hooks: (input) =>
    withoutRepeats(aggregateMetrics(rowsOf(input["verify_responses"]), hooksOf(input))),
  pass_majority: (input) => {
    const tasks = tasksOf(input["tasks"]);
    const { metrics, scoreNames, maxK } = passMajorityMetrics(tasks, helperOptions(input));
    return { metrics: { ...metrics, ...deviationsOf(tasks, input) }, score_names: scoreNames, max_k: maxK };
  },
  subset: (input) =>
    subsetMetrics(tasksOf(input["tasks"]), String(input["subset_key"]), helperOptions(input)),
  highest_k: (input) => selection(input["agent_metrics"] as Row, input),
  profile: (input) => {
    const profile = profileRollouts(rowsOf(input["materialized_inputs"]), rowsOf(input["rollouts"]), {
      allowPartialRollouts: input["allow_partial_rollouts"] === true,
    });
    // The values of the files are compared, where NaN has become null.
    return asWritten({
      reward_profiling: [...profile.tasks],
      agent_metrics: profile.agentMetrics,
      completion_summary: profile.summary,
    });
  },
};

export const suite: Suite = async (file) => {
  const { cases } = JSON.parse(await readFile(file, "utf8"), reviveFloat) as { cases: Case[] };
  return cases.map((golden) => ({ id: golden.id, run: () => runCase(golden) }));
};

function runCase(golden: Case): string | undefined {
  const operation = operations[golden.op];
  if (operation === undefined) return `unknown operation '${golden.op}'`;
  let actual: unknown;
  try {
    actual = operation(golden.input);
  } catch (error) {
    if (!(error instanceof GymError)) return `threw ${String(error)}, not an error of ours`;
    return golden.expected_error === undefined ? `threw ${error.message}` : undefined;
  }
  if (golden.expected_error !== undefined)
    return `was accepted; expected ${JSON.stringify(golden.expected_error)}`;
  return difference(actual, withoutAttempts(golden.expected), "$", TOLERANCE);
}

/** The metrics as before NeMo Gym 0.7, of which the vectors are: without statistics of repeats and of performance. */
export function withoutRepeats(aggregate: AggregateMetrics): Row {
  const { agent_metrics, key_metrics, group_level_metrics } = aggregate;
  const own = Object.entries(agent_metrics).filter(
    ([key]) => key !== "num_repeats" && !key.includes("_across_repeats/"),
  );
  return { agent_metrics: Object.fromEntries(own), key_metrics, group_level_metrics };
}

/** The expected value without statistics of `_ng_attempt_index`, which NeMo Gym averaged before 0.7. */
function withoutAttempts(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(withoutAttempts);
  if (!isObject(expected)) return expected;
  const kept = Object.entries(expected).filter(([key]) => !/(?:^|\/)_ng_attempt_index$/.test(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutAttempts(value)]));
}

function hooksOf(input: Row): AggregateHooks {
  const patterns = input["key_patterns"] as Row[] | undefined;
  return {
    computeMetrics: (tasks) => {
      const subsetKey = input["subset_key"];
      const options = helperOptions(input);
      return {
        ...passMajorityMetrics(tasks, options).metrics,
        ...deviationsOf(tasks, input),
        ...(typeof subsetKey === "string" ? subsetMetrics(tasks, subsetKey, options) : {}),
        ...(input["per_task_metrics"] === undefined ? {} : { per_task_metrics: input["per_task_metrics"] }),
      };
    },
    ...(patterns && {
      keyMetrics: (metrics) => Object.assign({}, ...patterns.map((pattern) => selection(metrics, pattern))),
    }),
  };
}

function selection(metrics: Row, input: Row): Row {
  const options: HighestKOptions = {
    ...(Array.isArray(input["score_names"]) && { scoreNames: input["score_names"] }),
    ...(Array.isArray(input["exclude_names"]) && { excludeNames: input["exclude_names"] }),
  };
  return highestKMetrics(metrics, String(input["pattern"]), options);
}

function helperOptions(input: Row): PassMajorityOptions {
  const fields = input["scores"] as Record<string, string> | null | undefined;
  return {
    ...(fields && { scores: (row) => scoresFrom(row, fields) }),
    ...(typeof input["answer_key"] === "string" && { answerField: input["answer_key"] }),
  };
}

function scoresFrom(row: Row, fields: Record<string, string>): Record<string, number | boolean> {
  const scores: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields))
    if (Object.hasOwn(row, field)) scores[name] = row[field];
  // The helper rejects values of other types.
  return scores as Record<string, number | boolean>;
}

function deviationsOf(tasks: Row[][], input: Row): Record<string, number> {
  return input["avg_sample_std_dev"] === true ? averageSampleDeviations(tasks, helperOptions(input)) : {};
}

function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? (value as Row[]) : [];
}

function tasksOf(value: unknown): Row[][] {
  return rowsOf(value).map(rowsOf);
}

function asWritten(value: unknown): unknown {
  return JSON.parse(dumpsCompact(value));
}

function reviveFloat(_key: string, value: unknown): unknown {
  const text = typeof value === "object" && value !== null ? (value as Row)["$float"] : undefined;
  return typeof text === "string" ? Number(text) : value;
}
