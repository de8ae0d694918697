import { type GridCell, TASK_SETS, type TaskSet, type TaskSort } from "../api-types.ts";

/** The values that determine sets and order of tasks; NaN if missing. */
export interface TaskFigures {
  task: number;
  mean: number;
  variance: number;
  /** Mean length of its rollouts, in output tokens. */
  tokens: number;
  /** Rollouts with a valid reward, and the number of them that pass. */
  rewarded: number;
  passed: number;
  /** Whether a repeat failed permanently. */
  errored: boolean;
  /** Mean in the compared run. */
  other: number | undefined;
}

/** Whether a task belongs to a set of the task grid. */
export function isInSet({ mean, rewarded, passed, errored, other }: TaskFigures, set: TaskSet): boolean {
  switch (set) {
    case "all":
      return true;
    case "always_fail":
      return rewarded > 0 && passed === 0;
    case "always_pass":
      return rewarded > 0 && passed === rewarded;
    case "mixed":
      return passed > 0 && passed < rewarded;
    case "errored":
      return errored;
    case "flipped":
      return other !== undefined && rewarded > 0 && mean >= 0.5 !== other >= 0.5;
  }
}

/** Number of tasks in each set. */
export function countSets(tasks: readonly TaskFigures[]): Record<TaskSet, number> {
  const counts = Object.fromEntries(TASK_SETS.map((set) => [set, 0])) as Record<TaskSet, number>;
  for (const task of tasks) for (const set of TASK_SETS) if (isInSet(task, set)) counts[set]++;
  return counts;
}

const SORT_KEYS: Readonly<Record<TaskSort, (task: TaskFigures) => number>> = {
  task: ({ task }) => task,
  mean: ({ mean }) => mean,
  variance: ({ variance }) => variance,
  length: ({ tokens }) => tokens,
  difference: ({ mean, other = Number.NaN }) => mean - other,
};

/** Compares tasks by a figure. Tasks without it come last in both directions. */
export function taskOrder(by: TaskSort, order: "asc" | "desc"): (a: TaskFigures, b: TaskFigures) => number {
  const direction = order === "asc" ? 1 : -1;
  const key = SORT_KEYS[by];
  return (a, b) => {
    const [first, second] = [key(a), key(b)];
    const missing = Number(Number.isNaN(first)) - Number(Number.isNaN(second));
    return missing || (first - second) * direction || a.task - b.task;
  };
}

/** The state of a repeat in the grid; `reward` is NaN if not valid. */
export function cellState(
  row: { excluded: boolean; failed: boolean; masked: boolean; reward: number },
  pass: number,
): GridCell["state"] {
  if (row.excluded) return "excluded";
  if (row.failed) return "failed";
  if (row.masked) return "masked";
  if (Number.isNaN(row.reward)) return "none";
  return row.reward >= pass ? "pass" : row.reward > 0 ? "part" : "zero";
}
