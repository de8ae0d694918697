import { GrowableDoubles, GrowableIntegers } from "../../metrics/growable-array.ts";
import { TaskTotals } from "../../metrics/task-totals.ts";
import type { GridCell, TaskEntry, TasksPage } from "../api-types.ts";
import type { RolloutFile } from "../index/rollout-file.ts";
import type { RowRequest } from "../query/request.ts";
import { isFailureRow, type RowCode, rowOf } from "../query/select-rows.ts";
import type { Annotations } from "./annotations.ts";
import { cellState, countSets, isInSet, type TaskFigures, taskOrder } from "./task-sets.ts";

interface Files {
  rollouts: RolloutFile;
  failures: RolloutFile;
  annotations: Annotations;
  isAddressed: (code: RowCode) => boolean;
}

type GridRequest = Pick<RowRequest, "pass" | "set" | "by" | "order" | "offset" | "limit">;

/** The tasks of the selected rows, each with its repeats; `others` are the means of another run by task. */
export async function taskGrid(
  files: Files,
  selected: Int32Array,
  request: GridRequest,
  others: ReadonlyMap<number, number> | undefined,
): Promise<Omit<TasksPage, "version" | "search" | "complete">> {
  const tasks = figuresOfTasks(files, selected, request.pass, others);
  const counts = countSets(tasks);
  const chosen = tasks.filter((task) => isInSet(task, request.set));
  chosen.sort(taskOrder(request.by, request.order));
  const shown = chosen.slice(request.offset, request.offset + request.limit);
  const codes = codesOf(files, selected, new Set(shown.map(({ task }) => task)));
  return {
    total: chosen.length,
    offset: request.offset,
    counts,
    tasks: await Promise.all(
      shown.map((task) => entryOf(files, task, codes.get(task.task) ?? [], request.pass)),
    ),
  };
}

/** The mean reward of every task. */
export function taskMeans({ columns }: RolloutFile): Map<number, number> {
  const sums = new Map<number, [sum: number, count: number]>();
  for (let row = 0; row < columns.length; row++) {
    const reward = columns.countedReward(row);
    const task = columns.task(row);
    if (Number.isNaN(reward) || Number.isNaN(task)) continue;
    const [sum, count] = sums.get(task) ?? [0, 0];
    sums.set(task, [sum + reward, count + 1]);
  }
  return new Map([...sums].map(([task, [sum, count]]) => [task, sum / count]));
}

/** Sums by task in typed arrays: a list of rows for each of a million tasks would use hundreds of megabytes. */
function figuresOfTasks(
  files: Files,
  selected: Int32Array,
  pass: number,
  others: ReadonlyMap<number, number> | undefined,
): TaskFigures[] {
  const places = new Map<number, number>();
  const rewards = new TaskTotals(pass);
  const squares = new GrowableDoubles();
  const tokens = new GrowableDoubles();
  const counted = new GrowableIntegers();
  const withFailures = new Set<number>();
  for (const code of selected) {
    const { columns } = isFailureRow(code) ? files.failures : files.rollouts;
    const row = rowOf(code);
    const task = columns.task(row);
    if (Number.isNaN(task)) continue;
    let place = places.get(task);
    if (place === undefined) {
      place = places.size;
      places.set(task, place);
      rewards.begin();
      squares.push(0);
      tokens.push(0);
      counted.push(0);
    }
    if (isFailureRow(code)) {
      withFailures.add(task);
      continue;
    }
    const length = columns.outputTokens(row);
    if (!Number.isNaN(length)) {
      tokens.values[place] = tokens.at(place) + length;
      counted.values[place] = counted.at(place) + 1;
    }
    const reward = columns.countedReward(row);
    if (Number.isNaN(reward)) continue;
    rewards.addReward(place, reward);
    squares.values[place] = squares.at(place) + reward * reward;
  }
  const errored = erroredTasks(files, codesOf(files, selected, withFailures));
  const figures: TaskFigures[] = [];
  for (const [task, place] of places) {
    const rewarded = rewards.counts.at(place);
    const mean = rewards.sums.at(place) / rewarded;
    figures.push({
      task,
      mean,
      variance: rewarded > 0 ? Math.max(0, squares.at(place) / rewarded - mean * mean) : Number.NaN,
      tokens: counted.at(place) > 0 ? tokens.at(place) / counted.at(place) : Number.NaN,
      rewarded,
      passed: rewards.passed.at(place),
      errored: errored.has(task),
      other: others?.get(task),
    });
  }
  return figures;
}

/** The tasks with a repeat that failed and did not complete later. */
function erroredTasks(
  { rollouts, failures }: Files,
  codes: ReadonlyMap<number, readonly number[]>,
): Set<number> {
  const errored = new Set<number>();
  for (const [task, own] of codes) {
    const done = new Set(
      own.filter((code) => !isFailureRow(code)).map((row) => rollouts.columns.rollout(row)),
    );
    const isLost = (code: number) => isFailureRow(code) && !done.has(failures.columns.rollout(rowOf(code)));
    if (own.some(isLost)) errored.add(task);
  }
  return errored;
}

/** The rows of some tasks. */
function codesOf(
  { rollouts, failures }: Files,
  selected: Int32Array,
  tasks: ReadonlySet<number>,
): Map<number, number[]> {
  const codes = new Map<number, number[]>();
  if (tasks.size === 0) return codes;
  for (const code of selected) {
    const { columns } = isFailureRow(code) ? failures : rollouts;
    const task = columns.task(rowOf(code));
    if (!tasks.has(task)) continue;
    const known = codes.get(task);
    if (known) known.push(code);
    else codes.set(task, [code]);
  }
  return codes;
}

async function entryOf(
  files: Files,
  { task, mean, variance, tokens, rewarded, passed, other }: TaskFigures,
  codes: readonly number[],
  pass: number,
): Promise<TaskEntry> {
  const cells = cellsOf(files, codes, pass);
  const first = codes[0] ?? 0;
  const file = isFailureRow(first) ? files.failures : files.rollouts;
  return {
    task,
    prompt: (await file.excerpts(rowOf(first)).catch(() => undefined))?.prompt ?? "",
    cells,
    mean: orNull(mean),
    variance: orNull(variance),
    passed,
    rewarded,
    failed: cells.filter(({ state }) => state === "failed").length,
    tokens: orNull(tokens),
    other: other ?? null,
  };
}

/** One cell for each repeat: the row that completed it, or its last failure. Further rows of a repeat have cells, too. */
function cellsOf(
  { rollouts, failures, annotations, isAddressed }: Files,
  codes: readonly number[],
  pass: number,
): GridCell[] {
  const byRepeat = new Map<number, number>();
  const failed = new Map<number, number>();
  const cells: GridCell[] = [];
  const cell = (code: number, attempts: number): GridCell => {
    const source = isFailureRow(code) ? "failures" : "rollouts";
    const { columns } = isFailureRow(code) ? failures : rollouts;
    const row = rowOf(code);
    const reward = columns.countedReward(row);
    const excluded = annotations.of(columns.task(row), columns.rollout(row))?.exclude ?? false;
    const [failed, masked] = [columns.failed(row), columns.masked(row)];
    const state = cellState({ excluded, failed, masked, reward }, pass);
    return {
      source,
      line: row + 1,
      rollout: orNull(columns.rollout(row)),
      reward: orNull(columns.failed(row) ? Number.NaN : columns.reward(row)),
      state,
      attempt: Math.max(attempts, columns.attempt(row)),
      addressed: isAddressed(code),
    };
  };
  for (const code of codes) {
    const { columns } = isFailureRow(code) ? failures : rollouts;
    const repeat = columns.rollout(rowOf(code));
    if (Number.isNaN(repeat)) cells.push(cell(code, 0));
    else if (isFailureRow(code)) failed.set(repeat, (failed.get(repeat) ?? 0) + 1);
    if (Number.isNaN(repeat)) continue;
    const known = byRepeat.get(repeat);
    if (known === undefined || isFailureRow(known)) byRepeat.set(repeat, code);
    else if (!isFailureRow(code)) cells.push(cell(code, 0));
  }
  for (const [repeat, code] of byRepeat) {
    const attempts = failed.get(repeat) ?? 0;
    cells.push(cell(code, isFailureRow(code) ? attempts - 1 : attempts));
  }
  return cells.sort(
    (a, b) =>
      (a.rollout ?? Number.POSITIVE_INFINITY) - (b.rollout ?? Number.POSITIVE_INFINITY) || a.line - b.line,
  );
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
