import { GrowableDoubles, GrowableIntegers, TaskTotals } from "../../records/metrics/door.ts";
import type { GridCell, TaskEntry, TaskList } from "../api-types.ts";
import { orNull } from "../index/number-column.ts";
import type { RowRequest } from "../query/request.ts";
import {
  columnsOf,
  isFailureRow,
  type RowAnnotations,
  type RowCode,
  type RowFile,
  type RowFiles,
  refOf,
  rowOf,
} from "../query/select-rows.ts";
import { cellState, countSets, isInSet, type TaskFigures, taskOrder } from "./task-sets.ts";

interface Files extends RowFiles {
  annotations: RowAnnotations;
  isAddressed: (code: RowCode) => boolean;
}

type GridRequest = Pick<RowRequest, "pass" | "set" | "by" | "order" | "offset" | "limit">;

/** The tasks of the selected rows, each with its repeats; `others` are the means of another run by task. */
export async function taskGrid(
  files: Files,
  selected: Int32Array,
  request: GridRequest,
  others: ReadonlyMap<number, number> | undefined,
): Promise<Omit<TaskList, "version" | "search" | "complete">> {
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
export function taskMeans({ columns }: RowFile): Map<number, number> {
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
    const columns = columnsOf(files, code);
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
function erroredTasks(files: Files, codes: ReadonlyMap<number, readonly RowCode[]>): Set<number> {
  const errored = new Set<number>();
  for (const [task, own] of codes) {
    const repeatsOf = (failed: boolean) =>
      own
        .filter((code) => isFailureRow(code) === failed)
        .map((code) => columnsOf(files, code).rollout(rowOf(code)));
    const done = new Set(repeatsOf(false));
    if (repeatsOf(true).some((repeat) => !done.has(repeat))) errored.add(task);
  }
  return errored;
}

/** The rows of some tasks. */
function codesOf(files: Files, selected: Int32Array, tasks: ReadonlySet<number>): Map<number, RowCode[]> {
  const codes = new Map<number, RowCode[]>();
  if (tasks.size === 0) return codes;
  for (const code of selected) {
    const task = columnsOf(files, code).task(rowOf(code));
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

/** One cell for each row that completed a repeat; the last failure of a repeat that no row completed. */
function cellsOf(files: Files, codes: readonly RowCode[], pass: number): GridCell[] {
  const repeatOf = (code: RowCode) => columnsOf(files, code).rollout(rowOf(code));
  const completed = codes.filter((code) => !isFailureRow(code));
  const done = new Set(completed.map(repeatOf));
  const failed = new Map<number, RowCode>();
  const attempts = new Map<number, number>();
  const unnamed: RowCode[] = [];
  for (const code of codes.filter(isFailureRow)) {
    const repeat = repeatOf(code);
    if (Number.isNaN(repeat)) {
      unnamed.push(code);
      continue;
    }
    attempts.set(repeat, (attempts.get(repeat) ?? 0) + 1);
    if (!done.has(repeat)) failed.set(repeat, code);
  }
  const cell = (code: RowCode): GridCell => {
    const columns = columnsOf(files, code);
    const row = rowOf(code);
    const [task, rollout] = [columns.task(row), columns.rollout(row)];
    const [isFailed, masked] = [columns.failed(row), columns.masked(row)];
    const excluded = files.annotations.of(task, rollout)?.exclude ?? false;
    const before = (attempts.get(rollout) ?? 0) - (failed.get(rollout) === code ? 1 : 0);
    return {
      ...refOf(code),
      rollout: orNull(rollout),
      reward: orNull(isFailed ? Number.NaN : columns.reward(row)),
      state: cellState({ excluded, failed: isFailed, masked, reward: columns.countedReward(row) }, pass),
      attempt: Math.max(before, columns.attempt(row)),
      addressed: files.isAddressed(code),
    };
  };
  const order = (each: GridCell) => each.rollout ?? Number.POSITIVE_INFINITY;
  return [...completed, ...failed.values(), ...unnamed]
    .map(cell)
    .sort((a, b) => order(a) - order(b) || a.line - b.line);
}
