import { mean } from "./descriptive.ts";
import { clusteredMean, type Estimate, type IntervalOptions, meanEstimate } from "./intervals.ts";
import { type PermutationTest, pairedTTest, permutationTest, signTest } from "./significance.ts";

/** The rewards of a run by task. */
type RunRewards = ReadonlyMap<number, ArrayLike<number>>;

/** A task that both runs have. */
interface TaskDifference {
  task: number;
  before: number;
  after: number;
  difference: number;
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
  only_before: number[];
  only_after: number[];
}

export interface CompareOptions extends IntervalOptions {
  /** A task passes when its mean reward reaches this (default 0.5). */
  passThreshold?: number;
  seed?: number;
}

/** Compares two runs task by task. Tasks of only one run are listed and excluded from the differences. */
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
    only_before: missingFrom(before, after),
    only_after: missingFrom(after, before),
  };
}

function missingFrom(run: RunRewards, other: RunRewards): number[] {
  return [...run.keys()].filter((task) => !other.has(task)).sort((left, right) => left - right);
}
