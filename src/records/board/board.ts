import type { Coverage } from "../metrics/coverage.ts";
import { mean } from "../metrics/descriptive.ts";
import {
  clusteredMean,
  type Estimate,
  meanEstimate,
  type PassEstimates,
  passEstimates,
} from "../metrics/intervals.ts";
import { holm, signFlipTest } from "../metrics/sign-flip.ts";
import { isInUnit } from "../metrics/task-totals.ts";
import { commonMeans } from "./common-tasks.ts";

/** Adjusted p-values below this are significant. */
export const SIGNIFICANT = 0.05;

/** A task of a run; tasks with the same content are the same in every run. */
export interface BoardTask {
  index: number;
  content: string | undefined;
  rewards: readonly number[];
}

/** One environment of one finished run. */
export interface BoardRun {
  id: string;
  path: string;
  environment: string;
  model: string;
  /** When the run began, in ISO format. */
  when: string;
  tasks: readonly BoardTask[];
  /** Null if the run has further environments: both are known for the whole run only. */
  coverage: Coverage | null;
  cost: number | null;
}

/** The newest run of a model in an environment. */
export interface BoardCell {
  model: string;
  run: string;
  when: string;
  reward: Estimate;
  /** Empty if the rewards are not between 0 and 1. */
  pass: PassEstimates[];
  rollouts: number;
  coverage: Coverage | null;
  cost: number | null;
  /** Number of finished runs of this model. */
  runs: number;
  /** 1 + the number of models that are significantly better. */
  rank: number;
}

export interface TrendPoint {
  run: string;
  when: string;
  reward: Estimate;
}

export interface BoardEnvironment {
  name: string;
  /** Smallest and largest reward of all runs. */
  range: { low: number; high: number };
  /** Best mean first. */
  cells: BoardCell[];
  /** The runs of each model, oldest first. */
  trends: { model: string; points: TrendPoint[] }[];
  /** Whether the newest runs have different tasks; tests use those in common. */
  differentTasks: boolean;
}

/** A paired test of two runs of an environment on their common tasks. */
export interface BoardTest {
  environment: string;
  /** `models` compares the newest runs of two models, `change` the two newest runs of one. */
  kind: "models" | "change";
  before: { model: string; run: string };
  after: { model: string; run: string };
  /** Mean over the common tasks of (after − before). */
  difference: Estimate;
  p: number;
  /** Corrected for all tests of the board (Holm). */
  adjusted_p: number;
  significant: boolean;
}

/** The mean of a model over the environments that all models have, if their rewards are between 0 and 1. */
export interface OverallMean {
  model: string;
  reward: Estimate;
}

export interface Board {
  environments: BoardEnvironment[];
  models: string[];
  overall: { environments: string[]; models: OverallMean[] } | null;
  tests: BoardTest[];
  runs: number;
  /** Also those that were not asked for. */
  all_environments: string[];
  left_out: { path: string; reason: string }[];
}

/** The board of some runs. */
export function boardOf(runs: readonly BoardRun[], leftOut: Board["left_out"] = []): Board {
  const byEnvironment = groupedBy(byScale(runs), ({ environment }) => environment);
  const tests: BoardTest[] = [];
  const environments = [...byEnvironment.keys()].sort().map((name) => {
    const own = (byEnvironment.get(name) ?? []).sort((a, b) => compareText(a.when, b.when));
    const byModel = groupedBy(own, ({ model }) => model);
    const { pairs, differentTasks } = testsOf(name, byModel);
    tests.push(...pairs);
    return { ...environmentOf(name, own, byModel), differentTasks };
  });
  for (const [place, p] of holm(tests.map((test) => test.p)).entries()) {
    const test = tests[place] as BoardTest;
    test.adjusted_p = p;
    test.significant = p < SIGNIFICANT;
  }
  for (const { name, cells } of environments)
    for (const cell of cells) cell.rank = 1 + tests.filter((test) => isBetter(test, name, cell.model)).length;
  const models = [...new Set(runs.map(({ model }) => model))].sort();
  return {
    environments,
    models,
    overall: overallOf(environments, models),
    tests,
    runs: new Set(runs.map(({ id }) => id)).size,
    all_environments: environments.map(({ name }) => name),
    left_out: leftOut,
  };
}

/** Rewards beyond 1 and rewards up to 1 are different scales; runs with only zeros may be on either. */
function byScale(runs: readonly BoardRun[]): BoardRun[] {
  const wide = new Set<string>();
  const unit = new Set<string>();
  for (const run of runs) {
    const size = sizeOf(run);
    if (size > 1) wide.add(run.environment);
    else if (size > 0) unit.add(run.environment);
  }
  return runs.map((run) =>
    wide.has(run.environment) && unit.has(run.environment)
      ? { ...run, environment: `${run.environment} (rewards ${sizeOf(run) > 1 ? "beyond" : "up to"} 1)` }
      : run,
  );
}

function sizeOf({ tasks }: BoardRun): number {
  return tasks.reduce((most, { rewards }) => Math.max(most, ...rewards.map(Math.abs)), 0);
}

function environmentOf(
  name: string,
  runs: readonly BoardRun[],
  byModel: ReadonlyMap<string, BoardRun[]>,
): Omit<BoardEnvironment, "differentTasks"> {
  const range = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
  for (const { tasks } of runs)
    for (const { rewards } of tasks) {
      range.low = Math.min(range.low, ...rewards);
      range.high = Math.max(range.high, ...rewards);
    }
  const isUnit = isInUnit(range.low) && isInUnit(range.high);
  const cells = [...byModel.values()].map((own) => cellOf(own, isUnit));
  cells.sort((a, b) => b.reward.value - a.reward.value || compareText(a.model, b.model));
  const trends = cells.map(({ model }) => ({
    model,
    points: (byModel.get(model) ?? []).map((run) => ({ run: run.id, when: run.when, reward: rewardOf(run) })),
  }));
  return { name, range, cells, trends };
}

function cellOf(runs: readonly BoardRun[], isUnit: boolean): BoardCell {
  const newest = runs.at(-1) as BoardRun;
  const { model, id, when, coverage, cost, tasks } = newest;
  const rewards = tasks.map((task) => task.rewards);
  return {
    model,
    run: id,
    when,
    reward: rewardOf(newest),
    pass: isUnit ? passEstimates(rewards) : [],
    rollouts: rewards.reduce((sum, own) => sum + own.length, 0),
    coverage,
    cost,
    runs: runs.length,
    rank: 1,
  };
}

function rewardOf({ tasks }: BoardRun): Estimate {
  return clusteredMean(tasks.map(({ rewards }) => rewards));
}

/** The newest runs of every two models, and the two newest of each model. */
function testsOf(environment: string, byModel: ReadonlyMap<string, readonly BoardRun[]>) {
  const newest = [...byModel.values()].map((runs) => runs.at(-1) as BoardRun);
  const pairs: BoardTest[] = [];
  let differentTasks = false;
  for (const [place, before] of newest.entries()) {
    for (const after of newest.slice(place + 1)) {
      const { test, common } = testOf(environment, "models", before, after);
      if (test) pairs.push(test);
      if (common < Math.max(before.tasks.length, after.tasks.length)) differentTasks = true;
    }
    const earlier = byModel.get(before.model)?.at(-2);
    const change = earlier && testOf(environment, "change", earlier, before).test;
    if (change) pairs.push(change);
  }
  return { pairs, differentTasks };
}

function testOf(environment: string, kind: BoardTest["kind"], before: BoardRun, after: BoardRun) {
  const common = commonMeans(before.tasks, after.tasks);
  const differences = common.map(([first, second]) => second - first);
  // One task says nothing about others.
  if (differences.length < 2) return { common: common.length };
  const test: BoardTest = {
    environment,
    kind,
    before: { model: before.model, run: before.id },
    after: { model: after.model, run: after.id },
    difference: meanEstimate(differences),
    p: signFlipTest(differences),
    adjusted_p: 1,
    significant: false,
  };
  return { common: common.length, test };
}

/** Whether a test shows that another model is better than this one. */
function isBetter(test: BoardTest, environment: string, model: string): boolean {
  if (!test.significant || test.kind !== "models" || test.environment !== environment) return false;
  const worse = test.difference.value > 0 ? test.before : test.after;
  return worse.model === model;
}

/** Every environment counts the same. Means of different ranges have no common unit, so such environments are not part of it. */
function overallOf(environments: readonly BoardEnvironment[], models: readonly string[]): Board["overall"] {
  const shared = environments.filter(
    ({ range, cells }) => isInUnit(range.low) && isInUnit(range.high) && cells.length === models.length,
  );
  if (shared.length < 2) return null;
  const means = models.map((model) => {
    const rewards = shared
      .flatMap(({ cells }) => cells.filter((cell) => cell.model === model))
      .map((cell) => cell.reward);
    const value = mean(rewards.map((reward) => reward.value));
    const errors = rewards.map((reward) => reward.standard_error);
    const error = errors.includes(null)
      ? null
      : Math.sqrt(errors.reduce((sum: number, own) => sum + (own ?? 0) ** 2, 0)) / rewards.length;
    const tasks = rewards.reduce((sum, reward) => sum + reward.tasks, 0);
    const reach = error === null ? null : 1.96 * error;
    return {
      model,
      reward: {
        value,
        standard_error: error,
        low: reach === null ? null : Math.max(0, value - reach),
        high: reach === null ? null : Math.min(1, value + reach),
        tasks,
      },
    };
  });
  means.sort((a, b) => b.reward.value - a.reward.value || compareText(a.model, b.model));
  return { environments: shared.map(({ name }) => name), models: means };
}

export function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
