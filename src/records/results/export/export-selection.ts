import { isTruthy } from "../../../base/python/door.ts";
import type { RolloutAnnotation } from "../../files/annotations.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { checkRowHealth } from "../health/check-line.ts";
import { requireKnown } from "../health/health-check.ts";
import { healthVerdictOf } from "../health/quality-summary.ts";
import { DEFAULT_MAX_PAIRS, type ExportFilters } from "./export-filters.ts";

/** A rollout and the position of its row. */
export interface ExportCandidate {
  rolloutIndex: number;
  reward: number;
  offset: number;
  line: number;
}

/** The rollouts of a task that passed the filters, in order of their index, with the totals over all rollouts of the task. */
export interface SelectedTask {
  taskIndex: number;
  rollouts: ExportCandidate[];
  total: number;
  passRate: number;
  averageReward: number;
}

/** The filters; `annotated` removes rollouts that were excluded in the viewer or lack the requested label. */
const FILTERS = [
  "masked",
  "annotated",
  "health",
  "incomplete_group",
  "pass_rate",
  "reward",
  "best_of",
] as const;
type Filter = (typeof FILTERS)[number];

/** Rollouts that the filters removed; each is counted for the first filter that removed it. */
export type FilteredCounts = Record<Filter, number>;

/** The reward of a row as a number; undefined when it has none. */
export function rewardOfRow(row: Row): number | undefined {
  const { reward } = row;
  if (typeof reward === "boolean") return Number(reward);
  return typeof reward === "number" && Number.isFinite(reward) ? reward : undefined;
}

/** Collects rollouts by task and applies the filters. */
export class ExportSelection {
  readonly filtered = Object.fromEntries(FILTERS.map((filter) => [filter, 0])) as FilteredCounts;
  private readonly tasks = new Map<number, ExportCandidate[]>();
  private readonly filters: ExportFilters;
  private readonly ignoredChecks: ReadonlySet<string>;
  /** Repeats that each task should have; without it any number is accepted. */
  expected: ReadonlyMap<number, number> | undefined;

  constructor(filters: ExportFilters) {
    this.filters = filters;
    this.ignoredChecks = new Set(requireKnown(filters.ignoredChecks ?? []));
  }

  /** The rollout, if it passed the filters. */
  find(taskIndex: number, rolloutIndex: number): ExportCandidate | undefined {
    return this.tasks.get(taskIndex)?.find((candidate) => candidate.rolloutIndex === rolloutIndex);
  }

  add(taskIndex: number, candidate: ExportCandidate, row: Row, annotation?: RolloutAnnotation): void {
    const filter = this.filterOf(row, annotation);
    if (filter) {
      this.filtered[filter]++;
      return;
    }
    const task = this.tasks.get(taskIndex);
    if (task) task.push(candidate);
    else this.tasks.set(taskIndex, [candidate]);
  }

  /** The filter that removes a row by itself, regardless of its task. */
  private filterOf(row: Row, annotation: RolloutAnnotation | undefined): Filter | undefined {
    const { label, includeExcluded, includeMasked } = this.filters;
    if (!includeExcluded && annotation?.exclude) return "annotated";
    if (label !== undefined && !annotation?.labels.includes(label)) return "annotated";
    if (!includeMasked && isTruthy(row["mask_sample"])) return "masked";
    return this.isHealthy(row) ? undefined : "health";
  }

  /** The verdict is computed from the row, so it cannot belong to another run. */
  private isHealthy(row: Row): boolean {
    const { health = "any" } = this.filters;
    if (health === "any") return true;
    const verdict = healthVerdictOf(checkRowHealth(row, 0, this.ignoredChecks));
    return health === "healthy" ? verdict === "healthy" : verdict !== "unhealthy";
  }

  /** Tasks with fewer rollouts than expected, of those that have any. */
  partialGroups(expected: ReadonlyMap<number, number>): number {
    let count = 0;
    for (const [task, rollouts] of this.tasks) if (rollouts.length < (expected.get(task) ?? 0)) count++;
    return count;
  }

  /** The tasks with remaining rollouts, ascending. */
  *selected(): Generator<SelectedTask> {
    const ascending = [...this.tasks.keys()].sort((left, right) => left - right);
    for (const taskIndex of ascending) {
      const task = this.select(taskIndex, this.tasks.get(taskIndex) ?? []);
      if (task.rollouts.length > 0) yield task;
    }
  }

  private select(taskIndex: number, all: ExportCandidate[]): SelectedTask {
    const { passThreshold = 1, passRateMin = 0, passRateMax = 1, bestOf } = this.filters;
    const { rewardMin = Number.NEGATIVE_INFINITY, rewardMax = Number.POSITIVE_INFINITY } = this.filters;
    const passRate = all.filter(({ reward }) => reward >= passThreshold).length / all.length;
    const averageReward = all.reduce((sum, { reward }) => sum + reward, 0) / all.length;
    const task = { taskIndex, rollouts: [] as ExportCandidate[], total: all.length, passRate, averageReward };
    if (all.length < (this.expected?.get(taskIndex) ?? 0)) {
      this.filtered.incomplete_group += all.length;
      return task;
    }
    if (passRate < passRateMin || passRate > passRateMax) {
      this.filtered.pass_rate += all.length;
      return task;
    }
    let kept = all.filter(({ reward }) => reward >= rewardMin && reward <= rewardMax);
    this.filtered.reward += all.length - kept.length;
    if (bestOf !== undefined && kept.length > bestOf) {
      this.filtered.best_of += kept.length - bestOf;
      kept = kept.sort(bestFirst).slice(0, bestOf);
    }
    return { ...task, rollouts: kept.sort((left, right) => left.rolloutIndex - right.rolloutIndex) };
  }
}

function bestFirst(left: ExportCandidate, right: ExportCandidate): number {
  return right.reward - left.reward || left.rolloutIndex - right.rolloutIndex;
}

/** Pairs of a better and a worse rollout of one task, by the filters' rule. */
export function pairsOf(
  task: SelectedTask,
  filters: ExportFilters,
): [chosen: ExportCandidate, rejected: ExportCandidate][] {
  const { pairs = "best-worst", minMargin = 0, maxPairsPerTask = DEFAULT_MAX_PAIRS } = filters;
  const ranked = [...task.rollouts].sort(bestFirst);
  const best = ranked[0];
  // Among equal ones the first, as for the best.
  const worst = ranked.find(({ reward }) => reward === ranked.at(-1)?.reward);
  const possible: [ExportCandidate, ExportCandidate][] =
    pairs === "all"
      ? ranked.flatMap((chosen, rank) =>
          ranked.slice(rank + 1).map((rejected): [ExportCandidate, ExportCandidate] => [chosen, rejected]),
        )
      : best && worst
        ? [[best, worst]]
        : [];
  const margin = ([chosen, rejected]: [ExportCandidate, ExportCandidate]) => chosen.reward - rejected.reward;
  return possible
    .filter((pair) => margin(pair) > 0 && margin(pair) >= minMargin)
    .sort((left, right) => margin(right) - margin(left))
    .slice(0, maxPairsPerTask);
}
