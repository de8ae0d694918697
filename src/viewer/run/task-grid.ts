import { type GridCell, TASK_SETS, type TaskEntry, type TaskSet, type TasksPage } from "../api-types.ts";
import type { RolloutFile } from "../index/rollout-file.ts";
import type { RowRequest } from "../query/request.ts";
import { isFailureRow, rowOf } from "../query/select-rows.ts";
import type { Annotations } from "./annotations.ts";
import { cellState, setsOf, type TaskFigures, taskOrder } from "./task-sets.ts";

interface Files {
  rollouts: RolloutFile;
  failures: RolloutFile;
  annotations: Annotations;
}

/** A task while its rows are gathered. */
interface Gathered extends TaskFigures {
  codes: number[];
  sets: Set<TaskSet>;
}

type GridRequest = Pick<RowRequest, "pass" | "set" | "by" | "order" | "offset" | "limit">;

/** The tasks of the rows selected, each with its repeats; `others` are the means of another run by task. */
export async function taskGrid(
  files: Files,
  selected: Int32Array,
  request: GridRequest,
  others: ReadonlyMap<number, number> | undefined,
): Promise<Omit<TasksPage, "version" | "search">> {
  const tasks = gathered(files, selected, request, others);
  const counts = Object.fromEntries(TASK_SETS.map((set) => [set, 0])) as Record<TaskSet, number>;
  for (const { sets } of tasks) for (const set of sets) counts[set]++;
  const chosen = tasks.filter(({ sets }) => sets.has(request.set));
  chosen.sort(taskOrder(request.by, request.order));
  const shown = chosen.slice(request.offset, request.offset + request.limit);
  return {
    total: chosen.length,
    offset: request.offset,
    counts,
    tasks: await Promise.all(shown.map((task) => entryOf(files, task, request.pass))),
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

function gathered(
  { rollouts, failures }: Files,
  selected: Int32Array,
  { pass }: GridRequest,
  others: ReadonlyMap<number, number> | undefined,
): Gathered[] {
  const tasks = new Map<number, number[]>();
  for (const code of selected) {
    const { columns } = isFailureRow(code) ? failures : rollouts;
    const task = columns.task(rowOf(code));
    if (Number.isNaN(task)) continue;
    const known = tasks.get(task);
    if (known) known.push(code);
    else tasks.set(task, [code]);
  }
  return [...tasks].map(([task, codes]) => {
    let sum = 0;
    let squares = 0;
    let count = 0;
    let passed = 0;
    let tokens = 0;
    let counted = 0;
    let errored = false;
    const done = new Set<number>();
    for (const code of codes) {
      if (isFailureRow(code)) continue;
      const { columns } = rollouts;
      done.add(columns.rollout(code));
      const length = columns.outputTokens(code);
      if (!Number.isNaN(length)) {
        tokens += length;
        counted++;
      }
      const reward = columns.countedReward(code);
      if (Number.isNaN(reward)) continue;
      sum += reward;
      squares += reward * reward;
      count++;
      if (reward >= pass) passed++;
    }
    for (const code of codes)
      if (isFailureRow(code) && !done.has(failures.columns.rollout(rowOf(code)))) errored = true;
    const mean = sum / count;
    const figures: TaskFigures = {
      task,
      mean,
      variance: count > 0 ? Math.max(0, squares / count - mean * mean) : Number.NaN,
      tokens: counted > 0 ? tokens / counted : Number.NaN,
      rewarded: count,
      passed,
      errored,
      other: others?.get(task),
    };
    return { ...figures, codes, sets: setsOf(figures) };
  });
}

async function entryOf(
  files: Files,
  { task, codes, mean, variance, tokens, rewarded, passed, other }: Gathered,
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

/** One cell for each repeat: the row that completed it, or its last failure. */
function cellsOf(
  { rollouts, failures, annotations }: Files,
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
  }
  for (const [repeat, code] of byRepeat) {
    const attempts = failed.get(repeat) ?? 0;
    cells.push(cell(code, isFailureRow(code) ? attempts - 1 : attempts));
  }
  return cells.sort(
    (a, b) => (a.rollout ?? Number.POSITIVE_INFINITY) - (b.rollout ?? Number.POSITIVE_INFINITY),
  );
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
