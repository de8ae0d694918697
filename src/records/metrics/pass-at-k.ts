import { byCodePoint, isTruthy, pyStr } from "../../base/python/door.ts";
import { allInPart } from "./binomial.ts";
import { mean, sampleDeviation } from "./descriptive.ts";
import { MetricsError } from "./errors.ts";
import { numberOf, type Row } from "./rollout-row.ts";

/** Named scores of one rollout; missing scores are omitted. */
export type ScoreFunction = (row: Row) => Record<string, number | boolean>;

export interface PassMajorityOptions {
  /** Default: `{ accuracy: row.reward }`. */
  scores?: ScoreFunction;
  /** The field with the extracted answer; enables `majority@k` and the score `no_answer`. */
  answerField?: string;
}

export interface PassMajorityResult {
  metrics: Record<string, unknown>;
  scoreNames: string[];
  maxK: number;
}

/** The scores of one name: for each task, for each of its rollouts, a number or undefined. */
type ScoreTable = (number | undefined)[][];

/**
 * `pass@k`, `pass@1[avg-of-k]` and `majority@k` in percent, for every k up to the longest task, with the spread between runs.
 *
 * @example
 * passMajorityMetrics(tasks, { answerField: "extracted_answer" }).metrics["pass@4/accuracy"];
 */
export function passMajorityMetrics(
  tasks: readonly Row[][],
  options: PassMajorityOptions = {},
): PassMajorityResult {
  const tables = scoreTables(tasks, options);
  const scoreNames = [...tables.keys()].sort(byCodePoint);
  const maxK = tasks.reduce((longest, task) => Math.max(longest, task.length), 0);
  const columns = scoreNames.map(
    (name) => new ScoreColumn(name, tables.get(name) ?? [], tasks, options.answerField),
  );
  const metrics: Record<string, unknown> = {};
  for (let k = 1; k <= maxK; k++) for (const column of columns) column.writeAt(k, metrics);
  if (tasks.length > 0) {
    metrics["per_sample_aggregate"] = Object.fromEntries(
      columns.map((column) => [column.name, column.perRun]),
    );
  }
  for (let k = 2; k <= maxK; k++) for (const column of columns) column.writeSpreadAt(k, metrics);
  return { metrics, scoreNames, maxK };
}

/** `pass@1[avg-of-k]/…/avg_sample_std_dev`: the mean over tasks of the deviation of their first k scores (not in percent). */
export function averageSampleDeviations(
  tasks: readonly Row[][],
  options: PassMajorityOptions = {},
): Record<string, number> {
  const tables = scoreTables(tasks, options);
  const maxK = tasks.reduce((longest, task) => Math.max(longest, task.length), 0);
  const metrics: Record<string, number> = {};
  for (let k = 2; k <= maxK; k++) {
    for (const name of [...tables.keys()].sort(byCodePoint)) {
      const deviations = (tables.get(name) ?? [])
        .map((scores) => present(scores.slice(0, k)))
        .filter((scores) => scores.length >= 2)
        .map((scores) => sampleDeviation(scores));
      if (deviations.length > 0) metrics[`pass@1[avg-of-${k}]/${name}/avg_sample_std_dev`] = mean(deviations);
    }
  }
  return metrics;
}

/**
 * The metrics for each value of `field` in the first rollout of the tasks, with keys `<value>/…`; tasks without a value
 * are skipped.
 */
export function subsetMetrics(
  tasks: readonly Row[][],
  field: string,
  options: PassMajorityOptions = {},
): Record<string, unknown> {
  const subsets = new Map<string, { name: string; tasks: Row[][] }>();
  for (const task of tasks) {
    const value = task[0]?.[field];
    if (!isTruthy(value)) continue;
    const key = scalarKey(value);
    const subset = subsets.get(key);
    if (subset) subset.tasks.push(task);
    else subsets.set(key, { name: pyStr(value), tasks: [task] });
  }
  const metrics: Record<string, unknown> = {};
  for (const { name, tasks: subset } of subsets.values()) {
    for (const [key, value] of Object.entries(passMajorityMetrics(subset, options).metrics)) {
      if (key !== "per_sample_aggregate") metrics[`${name}/${key}`] = value;
    }
  }
  return metrics;
}

const spreadSuffixes = ["std_dev_across_runs", "std_err_across_runs", "avg_sample_std_dev"];

export interface HighestKOptions {
  /** Only these score names. */
  scoreNames?: readonly string[];
  /** None of these score names. */
  excludeNames?: readonly string[];
}

/**
 * The metrics with the largest k among those whose key is `pattern/score` (such as `pass@{k}`); never includes spreads.
 */
export function highestKMetrics(
  agentMetrics: Record<string, unknown>,
  pattern: string,
  options: HighestKOptions = {},
): Record<string, unknown> {
  const [before = "", after = ""] = pattern.split("{k}", 2);
  if (!pattern.includes("{k}")) return {};
  let highest = -1;
  let selected: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(agentMetrics)) {
    if (!key.startsWith(before)) continue;
    const digits = /^\d+/.exec(key.slice(before.length))?.[0];
    if (digits === undefined || !key.startsWith(`${after}/`, before.length + digits.length)) continue;
    const score = key.slice(before.length + digits.length + after.length + 1);
    if (score === "" || score.includes("\n")) continue;
    if (spreadSuffixes.some((suffix) => score.endsWith(suffix))) continue;
    if (options.scoreNames && !options.scoreNames.includes(score)) continue;
    if (options.excludeNames?.includes(score)) continue;
    const k = Number(digits);
    if (k > highest) {
      highest = k;
      selected = {};
    }
    if (k === highest) selected[key] = value;
  }
  return selected;
}

/** One score over all tasks, with the values that are reused from k to k + 1. */
class ScoreColumn {
  readonly name: string;
  /** 100 × mean over the tasks of their i-th rollout; runs without a score are omitted. */
  readonly perRun: number[];
  private readonly tasks: TaskScores[];

  constructor(name: string, table: ScoreTable, rows: readonly Row[][], answerField: string | undefined) {
    this.name = name;
    this.tasks = table.map((scores, index) => new TaskScores(scores, rows[index] ?? [], answerField));
    const runs = table.reduce((longest, scores) => Math.max(longest, scores.length), 0);
    this.perRun = [];
    for (let run = 0; run < runs; run++) {
      const scores = present(table.map((task) => task[run]));
      if (scores.length > 0) this.perRun.push(100 * mean(scores));
    }
  }

  /** Adds the metrics of k, which must increase by one per call. */
  writeAt(k: number, metrics: Record<string, unknown>): void {
    const passes: number[] = [];
    const averages: number[] = [];
    const votes: number[] = [];
    for (const task of this.tasks) {
      task.advance(k);
      const pass = task.passAt(k);
      if (pass !== undefined) passes.push(pass);
      if (task.count > 0) averages.push(task.sum / task.count);
      if (task.vote) votes.push(task.vote.result());
    }
    if (passes.length > 0) metrics[`pass@${k}/${this.name}`] = 100 * mean(passes);
    if (averages.length > 0) metrics[`pass@1[avg-of-${k}]/${this.name}`] = 100 * mean(averages);
    if (votes.length > 0) metrics[`majority@${k}/${this.name}`] = 100 * mean(votes);
  }

  writeSpreadAt(k: number, metrics: Record<string, unknown>): void {
    const runs = this.perRun.slice(0, k);
    if (runs.length < 2) return;
    const deviation = sampleDeviation(runs);
    metrics[`pass@1[avg-of-${k}]/${this.name}/std_dev_across_runs`] = deviation;
    metrics[`pass@1[avg-of-${k}]/${this.name}/std_err_across_runs`] = deviation / Math.sqrt(runs.length);
  }
}

/** The scores of one task; sums and votes cover its first k rollouts. */
class TaskScores {
  sum = 0;
  count = 0;
  readonly vote: MajorityVote | undefined;
  private readonly scores: (number | undefined)[];
  private readonly rows: Row[];
  private readonly answerField: string | undefined;
  private readonly given: number[];
  private readonly zeros: number;
  private readonly binary: boolean;
  private best = Number.NaN;

  constructor(scores: (number | undefined)[], rows: Row[], answerField: string | undefined) {
    this.scores = scores;
    this.rows = rows;
    this.answerField = answerField;
    this.vote = answerField === undefined ? undefined : new MajorityVote();
    this.given = present(scores);
    this.zeros = this.given.filter((score) => score === 0).length;
    this.binary = this.given.every((score) => score === 0 || score === 1);
  }

  advance(k: number): void {
    const score = this.scores[k - 1];
    if (score !== undefined) {
      this.sum += score;
      this.count++;
      if (this.answerField !== undefined) this.vote?.add(this.rows[k - 1]?.[this.answerField], score);
    }
    const given = this.given[k - 1];
    // Like Python's max: the first value stays until a larger one follows, and no number is larger than NaN.
    if (given !== undefined && (k === 1 || given > this.best)) this.best = given;
  }

  /**
   * The probability that k of the task's rollouts include a success; for scores between 0 and 1, the best of the first
   * k.
   */
  passAt(k: number): number | undefined {
    if (this.given.length < k) return undefined;
    return this.binary ? 1 - allInPart(this.zeros, this.given.length, k) : this.best;
  }
}

/** Counts equal (answer, score) pairs and averages the score over the most frequent ones. */
class MajorityVote {
  private readonly counts = new Map<string, number>();
  private most = 0;
  private tiedPairs = 0;
  private tiedScores = 0;
  private notNumbers = 0;

  /** Counts one rollout; without an answer it has no vote. */
  add(answer: unknown, score: number): void {
    if (answer === null || answer === undefined) return;
    // NaN is not equal to itself.
    const scoreKey = Number.isNaN(score) ? `NaN ${this.notNumbers++}` : score;
    const pair = `${scoreKey} ${scalarKey(answer)}`;
    const count = (this.counts.get(pair) ?? 0) + 1;
    this.counts.set(pair, count);
    if (count > this.most) {
      this.most = count;
      this.tiedPairs = 0;
      this.tiedScores = 0;
    }
    if (count === this.most) {
      this.tiedPairs++;
      this.tiedScores += score;
    }
  }

  /** The average score of the most frequent pairs; 0 without any answer. */
  result(): number {
    return this.tiedPairs === 0 ? 0 : this.tiedScores / this.tiedPairs;
  }
}

/** Values compare as in Python: 1, 1.0 and true are equal, "1" is different. */
function scalarKey(answer: unknown): string {
  if (typeof answer === "string") return `text ${answer}`;
  const number = numberOf(answer);
  if (number !== undefined) return `number ${number}`;
  throw new MetricsError(
    "METRICS_ANSWER_NOT_SCALAR",
    "A value that is an array or an object cannot be voted on or grouped by.",
  );
}

function scoreTables(tasks: readonly Row[][], options: PassMajorityOptions): Map<string, ScoreTable> {
  const { scores: scoresOf = rewardAsAccuracy, answerField } = options;
  const tables = new Map<string, ScoreTable>();
  for (const [index, task] of tasks.entries()) {
    for (const [run, row] of task.entries()) {
      const scores: [name: string, score: unknown][] = Object.entries(scoresOf(row));
      if (answerField !== undefined) scores.push(["no_answer", (row[answerField] ?? null) === null ? 1 : 0]);
      for (const [name, score] of scores) {
        const table = tables.get(name) ?? tasks.map(({ length }) => new Array(length).fill(undefined));
        tables.set(name, table);
        const own = table[index];
        if (own) own[run] = asNumber(name, score);
      }
    }
  }
  return tables;
}

function rewardAsAccuracy(row: Row): Record<string, number> {
  const reward = numberOf(row["reward"]);
  if (reward === undefined) {
    throw new MetricsError(
      "METRICS_MISSING_REWARD",
      "A rollout row has no numeric 'reward' to compute pass@k from.",
    );
  }
  return { accuracy: reward };
}

function asNumber(name: string, score: unknown): number {
  const value = numberOf(score);
  if (value !== undefined) return value;
  throw new MetricsError(
    "METRICS_SCORE_NOT_A_NUMBER",
    `The score '${name}' of a rollout is ${JSON.stringify(score)}, which is not a number.`,
  );
}

function present(scores: (number | undefined)[]): number[] {
  return scores.filter((score) => score !== undefined);
}
