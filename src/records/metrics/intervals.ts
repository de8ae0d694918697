import { allInPart, drawBinomial } from "./binomial.ts";
import { mean, quantileOfSorted, sampleDeviation } from "./descriptive.ts";
import { tQuantile } from "./distributions.ts";
import { GrowableDoubles } from "./growable-array.ts";
import { seededNumbers } from "./seeded-random.ts";
import { type TaskKind, TaskTotals } from "./task-totals.ts";

const LEVEL = 0.95;
const MAX_RESAMPLES = 2_000;
const MIN_RESAMPLES = 200;
/** Maximum number of draws; a run of a million tasks uses fewer resamples to stay fast. */
const MAX_DRAWS = 20_000_000;
/** Drawing the frequency of a kind costs as much as drawing this many tasks. */
const TASKS_WORTH_A_KIND = 20;

/** A value with its uncertainty; error and interval are null without data to estimate them. */
export interface Estimate {
  value: number;
  standard_error: number | null;
  low: number | null;
  high: number | null;
  /** Number of independent units (tasks). */
  tasks: number;
}

export interface IntervalOptions {
  /** Coverage of the interval, default 0.95. */
  level?: number;
}

/** The rewards of each task, or their totals. */
export type TaskRewards = readonly ArrayLike<number>[] | TaskTotals;

/** The mean of independent values with a Student-t interval. */
export function meanEstimate(values: ArrayLike<number>, options: IntervalOptions = {}): Estimate {
  const tasks = values.length;
  return withInterval(mean(values), sampleDeviation(values) / Math.sqrt(tasks), tasks, options);
}

/**
 * The mean over all rollouts, with a standard error that counts tasks as the independent units: rollouts of one task
 * are correlated, and treating them as independent would understate the error. The interval is Student's with (tasks −
 * 1) degrees of freedom, clipped to [0, 1] if all rewards are in that range.
 */
export function clusteredMean(tasks: TaskRewards, options: IntervalOptions = {}): Estimate {
  const { sums, counts, rollouts, tasks: units, total, isUnit } = totalsOf(tasks);
  const value = total / rollouts;
  let squares = 0;
  for (let task = 0; task < units; task++) squares += (sums.at(task) - value * counts.at(task)) ** 2;
  const error = units > 1 ? Math.sqrt((units / (units - 1)) * squares) / rollouts : Number.NaN;
  const estimate = withInterval(value, error, units, options);
  return isUnit ? withinUnit(estimate) : estimate;
}

export interface BootstrapOptions extends IntervalOptions {
  /** The same seed gives the same interval; default 0. */
  seed?: number;
  resamples?: number;
}

/** The percentile interval of the mean over all rollouts when whole tasks are drawn with replacement. */
export function bootstrapMean(tasks: TaskRewards, options: BootstrapOptions = {}): Estimate {
  const totals = totalsOf(tasks);
  const units = totals.tasks;
  const value = totals.total / totals.rollouts;
  if (units < 2) return withInterval(value, Number.NaN, units, options);
  const means = resampledMeans(totals, options).sort();
  const outside = (1 - (options.level ?? LEVEL)) / 2;
  return {
    value,
    standard_error: sampleDeviation(means),
    low: quantileOfSorted(means, outside),
    high: quantileOfSorted(means, 1 - outside),
    tasks: units,
  };
}

/** The mean of each resample. If many tasks are equal, the frequency of each kind is drawn instead of each task. */
function resampledMeans(totals: TaskTotals, { seed = 0, resamples }: BootstrapOptions): Float64Array {
  const random = seededNumbers(seed);
  const kinds = totals.kinds(Math.floor(totals.tasks / TASKS_WORTH_A_KIND));
  const draws = kinds ? kinds.length * TASKS_WORTH_A_KIND : totals.tasks;
  const samples = resamples ?? Math.round(clamp(MAX_DRAWS / draws, MIN_RESAMPLES, MAX_RESAMPLES));
  const mean = kinds ? () => meanOfKinds(kinds, totals.tasks, random) : () => meanOfTasks(totals, random);
  return Float64Array.from({ length: samples }, mean);
}

function meanOfKinds(kinds: readonly TaskKind[], tasks: number, random: () => number): number {
  let sum = 0;
  let count = 0;
  let drawsLeft = tasks;
  let tasksLeft = tasks;
  for (const kind of kinds) {
    const times = drawBinomial(drawsLeft, kind.tasks / tasksLeft, random);
    sum += times * kind.sum;
    count += times * kind.count;
    drawsLeft -= times;
    tasksLeft -= kind.tasks;
  }
  return sum / count;
}

function meanOfTasks(totals: TaskTotals, random: () => number): number {
  const { values: sums } = totals.sums;
  const { values: counts } = totals.counts;
  const { tasks } = totals;
  let sum = 0;
  let count = 0;
  for (let draw = 0; draw < tasks; draw++) {
    const task = Math.floor(random() * tasks);
    sum += sums[task] ?? 0;
    count += counts[task] ?? 0;
  }
  return sum / count;
}

export interface PassEstimates {
  k: number;
  /** The probability that at least one of k rollouts succeeds. */
  pass_at_k: Estimate;
  /** The probability that all of k rollouts succeed. */
  pass_hat_k: Estimate;
}

/**
 * pass@k and pass^k for the given k (default 1, 2, 4, … up to the longest task) over the tasks with at least k rollouts. A rollout succeeds
 * when its reward reaches `threshold` (default 1; that of the totals, where those are given).
 */
export function passEstimates(
  tasks: TaskRewards,
  options: IntervalOptions & { ks?: readonly number[]; threshold?: number } = {},
): PassEstimates[] {
  const totals = totalsOf(tasks, options.threshold);
  const ks = options.ks ?? powersOfTwoUpTo(totals.longest);
  return ks.flatMap((k) => {
    const any = new GrowableDoubles();
    const all = new GrowableDoubles();
    for (let task = 0; task < totals.tasks; task++) {
      const count = totals.counts.at(task);
      if (count < k || k < 1) continue;
      const passed = totals.passed.at(task);
      any.push(1 - allInPart(count - passed, count, k));
      all.push(allInPart(passed, count, k));
    }
    if (any.length === 0) return [];
    return [
      {
        k,
        pass_at_k: withinUnit(meanEstimate(any.values.subarray(0, any.length), options)),
        pass_hat_k: withinUnit(meanEstimate(all.values.subarray(0, all.length), options)),
      },
    ];
  });
}

function withInterval(value: number, error: number, tasks: number, options: IntervalOptions): Estimate {
  if (!Number.isFinite(error)) return { value, standard_error: null, low: null, high: null, tasks };
  const reach = tQuantile((1 + (options.level ?? LEVEL)) / 2, tasks - 1) * error;
  return { value, standard_error: error, low: value - reach, high: value + reach, tasks };
}

/** Clips the interval of a probability to [0, 1]. */
function withinUnit(estimate: Estimate): Estimate {
  return {
    ...estimate,
    low: estimate.low === null ? null : Math.max(0, estimate.low),
    high: estimate.high === null ? null : Math.min(1, estimate.high),
  };
}

function totalsOf(tasks: TaskRewards, threshold = 1): TaskTotals {
  return tasks instanceof TaskTotals ? tasks : TaskTotals.of(tasks, threshold);
}

function powersOfTwoUpTo(limit: number): number[] {
  const powers: number[] = [];
  for (let power = 1; power <= limit; power *= 2) powers.push(power);
  if (limit > 0 && powers.at(-1) !== limit) powers.push(limit);
  return powers;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
