import type { RolloutFile } from "./rollout-file.ts";
import type { RowColumns } from "./row-columns.ts";
import type { RowQuery } from "./row-query.ts";

/** A row of either file as one number: `n` for row n of the rollouts, `-n - 1` for row n of the failures. */
export type RowCode = number;

export function isFailureRow(code: RowCode): boolean {
  return code < 0;
}

export function rowOf(code: RowCode): number {
  return code < 0 ? -code - 1 : code;
}

/** Whether the reward of a row counts: a failed attempt has none, and masked rows are not to be learned from. */
export function countedReward(columns: RowColumns, row: number): number {
  return columns.failure.at(row) === 0 && !columns.masked(row) ? columns.reward.at(row) : Number.NaN;
}

/** The rows a query lets through, in its order. */
export function selectRows(
  files: { rollouts: RolloutFile; failures: RolloutFile },
  query: RowQuery,
  hasText: (file: RolloutFile, row: number) => boolean,
): Int32Array {
  const { rollouts, failures } = files;
  const found = new Int32Array(rollouts.columns.length + failures.columns.length);
  let length = 0;
  for (const file of [rollouts, failures]) {
    const passes = filterFor(file.columns, query);
    const count = file.columns.length;
    for (let row = 0; row < count; row++) {
      if (passes(row) && (query.text === "" || hasText(file, row)))
        found[length++] = file === rollouts ? row : -row - 1;
    }
  }
  const selected = found.subarray(0, length);
  if (query.sort !== "file") sortRows(selected, files, query);
  else if (query.order === "desc") selected.reverse();
  return selected;
}

function filterFor(columns: RowColumns, query: RowQuery): (row: number) => boolean {
  const { reward_min, reward_max, task, status } = query;
  const byReward = reward_min !== undefined || reward_max !== undefined;
  const minimum = reward_min ?? Number.NEGATIVE_INFINITY;
  const maximum = reward_max ?? Number.POSITIVE_INFINITY;
  // A name that no row has gives a number that no row has.
  const agent = query.agent === undefined ? undefined : (columns.agents.find(query.agent) ?? -1);
  const failure = query.failure === undefined ? undefined : (columns.failures.find(query.failure) ?? -1);
  return (row) => {
    if (task !== undefined && columns.task.at(row) !== task) return false;
    if (agent !== undefined && columns.agent.at(row) !== agent) return false;
    if (failure !== undefined && columns.failure.at(row) !== failure) return false;
    if (byReward) {
      const reward = columns.failure.at(row) === 0 ? columns.reward.at(row) : Number.NaN;
      if (!(reward >= minimum && reward <= maximum)) return false;
    }
    switch (status) {
      case "all":
        return true;
      case "completed":
        return columns.failure.at(row) === 0 && columns.state(row) !== "unreadable";
      case "failed":
        return columns.failure.at(row) !== 0;
      case "masked":
        return columns.masked(row);
      case "invalid":
        return columns.state(row) !== "ok";
    }
  };
}

function sortRows(
  selected: Int32Array,
  { rollouts, failures }: { rollouts: RolloutFile; failures: RolloutFile },
  query: RowQuery,
): void {
  const direction = query.order === "asc" ? 1 : -1;
  const keys = (code: RowCode): number => {
    const { columns } = isFailureRow(code) ? failures : rollouts;
    const row = rowOf(code);
    if (query.sort === "task") return columns.task.at(row);
    if (query.sort === "tokens") return columns.outputTokens.at(row);
    return columns.failure.at(row) === 0 ? columns.reward.at(row) : Number.NaN;
  };
  const rolloutIndex = (code: RowCode) =>
    (isFailureRow(code) ? failures : rollouts).columns.rollout.at(rowOf(code));
  // Rows without the value come last in both directions; equal ones in the order of task and file.
  selected.sort((a, b) => {
    const [first, second] = [keys(a), keys(b)];
    if (first !== second) {
      if (Number.isNaN(first)) return Number.isNaN(second) ? placeOf(a) - placeOf(b) : 1;
      if (Number.isNaN(second)) return -1;
      return (first - second) * direction;
    }
    if (query.sort === "task") {
      const difference = rolloutIndex(a) - rolloutIndex(b);
      if (difference !== 0 && !Number.isNaN(difference)) return difference * direction;
    }
    return placeOf(a) - placeOf(b);
  });
}

/** Rollouts in file order, then failures. */
function placeOf(code: RowCode): number {
  return isFailureRow(code) ? 2 ** 31 + rowOf(code) : code;
}
