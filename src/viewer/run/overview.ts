import { clusteredMean, passEstimates, TaskTotals } from "../../records/metrics/door.ts";
import type { Distribution, GroupRow, Overview } from "../api-types.ts";
import { orNull } from "../index/number-column.ts";
import type { RowColumns } from "../index/row-columns.ts";
import { columnsOf, isFailureRow, type RowCode, type RowFiles, refOf, rowOf } from "../query/select-rows.ts";
import type { Progress, RunInfo } from "./run-info.ts";

/** One number alone is not a bar as wide as the chart. */
const LEAST_WHOLE_BINS = 5;
/** Few enough that each bar can be tapped on a touch screen. */
const MAX_BINS = 10;
const SLOWEST = 10;

interface Run extends RowFiles {
  version: number;
  info: RunInfo;
  isAddressed: (code: RowCode) => boolean;
}

/**
 * The figures of the overview for the selected rows, and the classes of some rows of the failures file. Figures of the
 * whole run are from its progress file.
 */
export function overviewOf(
  run: Run,
  selected: Int32Array,
  pass: number,
  failed: Iterable<number>,
  isLost: (code: RowCode) => boolean,
  progress?: Progress,
): Omit<Overview, "filtered" | "coverage" | "search" | "complete"> {
  const { totals, ...figures } = figuresOf(run, selected, pass);
  return {
    version: run.version,
    pass_threshold: pass,
    ...figures,
    totals: {
      ...totals,
      spent: progress?.spent ?? null,
      elapsed_seconds: progress?.elapsed_seconds ?? null,
      model_calls: progress?.model_calls ?? null,
    },
    turn_boundaries: progress?.turn_boundaries ?? null,
    history: progress?.history ?? [],
    failures: failureClasses(run, failed, isLost).map((entry) => ({
      ...entry,
      message: progress?.failure_messages?.[entry.class] ?? null,
    })),
  };
}

function figuresOf(run: Run, selected: Int32Array, pass: number) {
  const byAgent = new Map<string | undefined, AgentFigures>();
  const totals = { input_tokens: sum(), output_tokens: sum(), cost: sum(), tool_calls: sum() };
  const slow: { code: number; key: number }[] = [];
  let rewarded = 0;
  let withoutReward = 0;
  let passed = 0;
  for (const code of selected) {
    const columns = columnsOf(run, code);
    const row = rowOf(code);
    if (!columns.isReadable(row)) continue;
    const agent = columns.agent(row);
    let own = byAgent.get(agent);
    if (own === undefined) {
      own = new AgentFigures(pass);
      byAgent.set(agent, own);
    }
    if (columns.failed(row)) {
      own.failed++;
      continue;
    }
    own.rollouts++;
    totals.input_tokens.add(columns.inputTokens(row));
    totals.output_tokens.add(columns.outputTokens(row));
    totals.cost.add(columns.cost(row));
    totals.tool_calls.add(columns.toolCalls(row));
    own.tokens.add(columns.outputTokens(row));
    own.cost.add(columns.cost(row));
    if (!isFailureRow(code)) noteSlow(slow, code, columns.durationMs(row), columns.outputTokens(row));
    if (columns.masked(row)) continue;
    const reward = columns.reward(row);
    if (Number.isNaN(reward)) {
      withoutReward++;
      continue;
    }
    rewarded++;
    if (reward >= pass) passed++;
    own.rewards.add(columns, row, reward);
  }
  // One array for all distributions: each would use eight megabytes for a million rows.
  const values = new Float64Array(selected.length);
  const distribution = (read: (columns: RowColumns, row: number) => number, about?: Bars) => {
    let length = 0;
    for (const code of selected) {
      const columns = columnsOf(run, code);
      const row = rowOf(code);
      if (!columns.isReadable(row) || columns.failed(row)) continue;
      const value = read(columns, row);
      if (!Number.isNaN(value)) values[length++] = value;
    }
    return distributionOf(values.subarray(0, length), about);
  };
  const all = new TaskTotals(pass);
  const groups: GroupRow[] = [];
  let withoutTask = 0;
  for (const [agent, own] of [...byAgent].sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const { totals: ownTotals } = own.rewards;
    all.addTasks(ownTotals);
    withoutTask += own.rewards.withoutTask;
    groups.push({
      agent: agent ?? null,
      environment: agent === undefined ? null : (run.info.environments.get(agent) ?? null),
      rollouts: own.rollouts,
      tasks: ownTotals.tasks,
      failed: own.failed,
      reward: ownTotals.tasks === 0 ? null : clusteredMean(ownTotals),
      pass_1: ownTotals.tasks === 0 ? null : (passEstimates(ownTotals, { ks: [1] })[0]?.pass_at_k ?? null),
      output_tokens: own.tokens.total,
      cost: own.cost.total,
    });
  }
  return {
    rewarded,
    without_reward: withoutReward,
    reward: all.tasks === 0 ? null : clusteredMean(all),
    passed,
    is_unit: all.isUnit,
    pass: passEstimates(all),
    tasks: all.tasks,
    without_task: withoutTask,
    groups,
    rewards: distribution((columns, row) => columns.countedReward(row), { unit: true }),
    tokens: distribution((columns, row) => columns.outputTokens(row)),
    turns: distribution((columns, row) => columns.turns(row), { whole: true }),
    durations: distribution((columns, row) => columns.durationMs(row) / 1000),
    totals: {
      input_tokens: totals.input_tokens.total,
      output_tokens: totals.output_tokens.total,
      cost: totals.cost.total,
      tool_calls: totals.tool_calls.total ?? 0,
    },
    slowest: slow.map(({ code }) => {
      const { columns } = run.rollouts;
      return {
        ...refOf(code),
        task: orNull(columns.task(code)),
        rollout: orNull(columns.rollout(code)),
        seconds: orNull(columns.durationMs(code) / 1000),
        tokens: orNull(columns.outputTokens(code)),
        addressed: run.isAddressed(code),
      };
    }),
  };
}

/** Rewards by task. Keeps sums instead of lists of rewards, because runs can have a million rows. */
export class RewardsByTask {
  readonly totals: TaskTotals;
  readonly #places = new Map<number, number>();
  /** Rows without a task; each counts as one. */
  withoutTask = 0;

  constructor(threshold: number) {
    this.totals = new TaskTotals(threshold);
  }

  /** Adds the reward of a row, which must have one. */
  add(columns: RowColumns, row: number, reward: number): void {
    const task = columns.task(row);
    const next = this.totals.tasks;
    if (Number.isNaN(task)) {
      this.withoutTask++;
      this.totals.addReward(next, reward);
      return;
    }
    const place = this.#places.get(task);
    if (place === undefined) this.#places.set(task, next);
    this.totals.addReward(place ?? next, reward);
  }
}

class AgentFigures {
  rollouts = 0;
  failed = 0;
  readonly tokens = sum();
  readonly cost = sum();
  readonly rewards: RewardsByTask;

  constructor(pass: number) {
    this.rewards = new RewardsByTask(pass);
  }
}

/** The sum of the present values; null without any. */
function sum() {
  return {
    total: null as number | null,
    add(value: number) {
      if (!Number.isNaN(value)) this.total = (this.total ?? 0) + value;
    },
  };
}

/** Sorted by time if known, by tokens otherwise. */
function noteSlow(slow: { code: number; key: number }[], code: number, ms: number, tokens: number): void {
  const key = Number.isNaN(ms) ? (Number.isNaN(tokens) ? -1 : tokens / 1e9) : ms;
  if (key < 0 || (slow.length === SLOWEST && key <= (slow.at(-1)?.key ?? 0))) return;
  slow.push({ code, key });
  slow.sort((a, b) => b.key - a.key);
  slow.length = Math.min(slow.length, SLOWEST);
}

interface Bars {
  unit?: boolean;
  whole?: boolean;
}

/** Bars of equal width; for rewards within [0, 1] they cover that whole range. Sorts the values. */
export function distributionOf(values: Float64Array, options: Bars = {}): Distribution | null {
  if (values.length === 0) return null;
  const sorted = values.sort();
  let from = sorted[0] ?? 0;
  let to = sorted.at(-1) ?? 0;
  const max = to;
  if (options.unit && from >= 0 && to <= 1) [from, to] = [0, 1];
  // Bars from 0 are easier to read, unless the first ones would be empty.
  else if (!options.unit && from < to / MAX_BINS) from = Math.min(from, 0);
  let bins = MAX_BINS;
  if (options.whole) {
    // One bar for each number, or for several.
    const step = Math.max(1, Math.ceil((to - from + 1) / MAX_BINS));
    bins = Math.max(LEAST_WHOLE_BINS, Math.ceil((to - from + 1) / step));
    to = from + bins * step;
  }
  if (from === to) to = from + 1;
  const width = (to - from) / bins;
  const counts = new Array<number>(bins).fill(0);
  let total = 0;
  for (const value of sorted) {
    total += value;
    const bin = Math.min(bins - 1, Math.floor((value - from) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
  return {
    bins: counts.map((count, bin) => ({ from: from + bin * width, to: from + (bin + 1) * width, count })),
    mean: total / sorted.length,
    median,
    max,
    count: sorted.length,
  };
}

/** Failure classes by number of failed attempts, with the number of permanently lost rollouts. */
function failureClasses(
  { failures: { columns } }: RowFiles,
  rows: Iterable<number>,
  isLost: (code: RowCode) => boolean,
): Omit<Overview["failures"][number], "message">[] {
  const classes = new Map<string, { class: string; attempts: number; lost: number }>();
  for (const row of rows) {
    const name = columns.failure(row);
    if (name === undefined) continue;
    const known = classes.get(name) ?? { class: name, attempts: 0, lost: 0 };
    known.attempts++;
    if (isLost(-row - 1)) known.lost++;
    classes.set(name, known);
  }
  return [...classes.values()].sort((a, b) => b.attempts - a.attempts);
}
