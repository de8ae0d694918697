import { mean, sampleDeviation } from "./descriptive.ts";
import { incompleteBeta, tTwoSided } from "./distributions.ts";
import { clusteredMean, type Estimate, type IntervalOptions, meanEstimate } from "./intervals.ts";
import { seededNumbers } from "./seeded-random.ts";

/** Up to this many differences, all assignments of signs are tried. */
const EXACT_UP_TO = 20;
const RESAMPLES = 10_000;
const MIN_RESAMPLES = 1_000;
const MAX_DRAWS = 100_000_000;

/** The rewards of a run by task. */
type RunRewards = ReadonlyMap<number, ArrayLike<number>>;

/** A task that both runs have. */
interface TaskDifference {
  task: number;
  before: number;
  after: number;
  difference: number;
}

interface PermutationTest {
  p: number;
  /** Whether all assignments of signs were tried; otherwise `resamples` random ones. */
  exact: boolean;
  resamples: number;
}

export interface RunComparison {
  before: Estimate;
  after: Estimate;
  /** Mean over the common tasks of (after − before); every task counts once. */
  difference: Estimate;
  /** Tasks on which the second run is better, worse, or the same. */
  wins: number;
  losses: number;
  ties: number;
  paired_t_p: number | null;
  sign_test_p: number;
  permutation: PermutationTest;
  /** Tasks that one run passes and the other fails; largest change first. */
  flipped: TaskDifference[];
}

export interface CompareOptions extends IntervalOptions {
  /** A task passes when its mean reward reaches this (default 0.5). */
  passThreshold?: number;
  seed?: number;
}

/** Compares two runs task by task. Tasks of only one run are excluded from the differences. */
export function compareRuns(
  before: RunRewards,
  after: RunRewards,
  options: CompareOptions = {},
): RunComparison {
  const common = [...before.keys()].filter((task) => after.has(task)).sort((left, right) => left - right);
  const pairs = common.map((task): TaskDifference => {
    const first = mean(before.get(task) ?? []);
    const second = mean(after.get(task) ?? []);
    return { task, before: first, after: second, difference: second - first };
  });
  const differences = pairs.map((pair) => pair.difference);
  const wins = differences.filter((difference) => difference > 0).length;
  const losses = differences.filter((difference) => difference < 0).length;
  const threshold = options.passThreshold ?? 0.5;
  return {
    before: clusteredMean([...before.values()], options),
    after: clusteredMean([...after.values()], options),
    difference: meanEstimate(differences, options),
    wins,
    losses,
    ties: pairs.length - wins - losses,
    paired_t_p: pairedTTest(differences),
    sign_test_p: signTest(wins, losses),
    permutation: permutationTest(differences, { seed: options.seed }),
    flipped: pairs
      .filter((pair) => pair.before >= threshold !== pair.after >= threshold)
      .sort(
        (left, right) => Math.abs(right.difference) - Math.abs(left.difference) || left.task - right.task,
      ),
  };
}

/** Two-sided p-value of the paired t-test that the mean difference is zero; null below two differences. */
export function pairedTTest(differences: ArrayLike<number>): number | null {
  if (differences.length < 2) return null;
  const average = mean(differences);
  const error = sampleDeviation(differences, average) / Math.sqrt(differences.length);
  if (error === 0) return average === 0 ? 1 : 0;
  return tTwoSided(average / error, differences.length - 1);
}

/** Two-sided exact p-value of the sign test: that wins and losses are equally likely. Ties do not count. */
export function signTest(wins: number, losses: number): number {
  const trials = wins + losses;
  if (trials === 0) return 1;
  const fewer = Math.min(wins, losses);
  if (wins === losses) return 1;
  if (trials <= SUMMED_UP_TO) return Math.min(1, 2 * fairCoinAtMost(fewer, trials));
  // P(X <= fewer) for a fair coin, as an incomplete beta function.
  return Math.min(1, 2 * incompleteBeta(0.5, trials - fewer, fewer + 1));
}

/** Beyond this many tosses the terms are too small to be numbers. */
const SUMMED_UP_TO = 1_000;

/** P(X <= most) for this number of tosses, summed term by term, which keeps round results exact. */
function fairCoinAtMost(most: number, tosses: number): number {
  let ways = 2 ** -tosses;
  let sum = 0;
  for (let heads = 0; heads <= most; heads++) {
    sum += ways;
    ways = (ways * (tosses - heads)) / (heads + 1);
  }
  return sum;
}

/** Two-sided p-value that a mean difference this large arises when the sign of each difference is a coin toss. */
export function permutationTest(
  differences: ArrayLike<number>,
  options: { seed?: number; resamples?: number } = {},
): PermutationTest {
  // A difference of zero has no sign to flip.
  const values = Float64Array.from(differences).filter((difference) => difference !== 0);
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0));
  // Sums that differ only by rounding must count as equal.
  const reached = observed - 1e-12 * Math.max(1, observed);
  if (values.length <= EXACT_UP_TO) return exactTest(values, reached);
  const affordable = Math.floor(MAX_DRAWS / values.length);
  const resamples = options.resamples ?? Math.max(MIN_RESAMPLES, Math.min(RESAMPLES, affordable));
  const random = seededNumbers(options.seed ?? 0);
  let extreme = 0;
  for (let sample = 0; sample < resamples; sample++) {
    let sum = 0;
    for (let index = 0; index < values.length; index++) {
      sum += random() < 0.5 ? (values[index] ?? 0) : -(values[index] ?? 0);
    }
    if (Math.abs(sum) >= reached) extreme++;
  }
  // The observed assignment is one of the possible ones: p is never 0.
  return { p: (extreme + 1) / (resamples + 1), exact: false, resamples };
}

/** All assignments of signs; `reached` is the smallest sum that counts as extreme. */
export function exactTest(values: Float64Array, reached: number): PermutationTest {
  const assignments = 2 ** values.length;
  let sum = values.reduce((all, value) => all + value, 0);
  const negative = new Uint8Array(values.length);
  let extreme = Math.abs(sum) >= reached ? 1 : 0;
  // Gray code: from one assignment to the next a single sign changes.
  for (let step = 1; step < assignments; step++) {
    const flipped = 31 - Math.clz32(step & -step);
    const value = values[flipped] ?? 0;
    sum += negative[flipped] === 1 ? 2 * value : -2 * value;
    negative[flipped] = negative[flipped] === 1 ? 0 : 1;
    if (Math.abs(sum) >= reached) extreme++;
  }
  return { p: extreme / assignments, exact: true, resamples: assignments };
}
