import type { RolloutFile } from "../index/rollout-file.ts";
import type { RowColumns } from "../index/row-columns.ts";
import type { Annotations } from "../run/annotations.ts";
import { type NumberField, predicateOf, type State, type TermReader } from "./query.ts";
import type { RowRequest } from "./request.ts";

/** A row of either file as one number: `n` for row n of the rollouts, `-n - 1` for row n of the failures. */
export type RowCode = number;

export function isFailureRow(code: RowCode): boolean {
  return code < 0;
}

export function rowOf(code: RowCode): number {
  return code < 0 ? -code - 1 : code;
}

export interface SelectedFrom {
  rollouts: RolloutFile;
  failures: RolloutFile;
  annotations: Annotations;
  isLost: (code: RowCode) => boolean;
}

/** The rows that match a request, in its order. */
export function selectRows(
  from: SelectedFrom,
  request: Pick<RowRequest, "terms" | "sort" | "order" | "pass">,
  hasText: (file: RolloutFile, row: number, text: string) => boolean,
): Int32Array {
  const { rollouts, failures } = from;
  const found = new Int32Array(rollouts.columns.length + failures.columns.length);
  let length = 0;
  for (const file of [rollouts, failures]) {
    const reader = columnReader(file, from, request.pass, hasText);
    const passes = predicateOf(request.terms, reader);
    const count = file.columns.length;
    for (let row = 0; row < count; row++)
      if (passes(row)) found[length++] = file === rollouts ? row : -row - 1;
  }
  const selected = length === found.length ? found : found.slice(0, length);
  if (request.sort !== "file") return sortedRows(selected, from, request.sort, request.order);
  if (request.order === "desc") selected.reverse();
  return selected;
}

function columnReader(
  file: RolloutFile,
  from: SelectedFrom,
  pass: number,
  hasText: (file: RolloutFile, row: number, text: string) => boolean,
): TermReader<number> {
  const { columns } = file;
  const contains = (value: string) => (name: string) => name.toLowerCase().includes(value.toLowerCase());
  const annotated = (row: number) => from.annotations.of(columns.task(row), columns.rollout(row));
  const byId = (ids: Set<number>, id: (row: number) => number) => (row: number) => ids.has(id(row));
  return {
    number: (field) => numberReader(columns, field),
    name: (field, value) => {
      const test = contains(value);
      switch (field) {
        case "agent":
          return byId(columns.agents.matching(test), (row) => columns.agentId(row));
        case "model":
          return byId(columns.models.matching(test), (row) => columns.modelId(row));
        case "error":
          return byId(columns.failures.matching(test), (row) => columns.failureId(row));
        case "tool":
          return byId(
            columns.toolSets.matching((set) => set.split("\n").some(test)),
            (row) => columns.toolSetId(row),
          );
        case "label":
          return (row) => annotated(row)?.labels.some(test) ?? false;
      }
    },
    is: (state) => {
      if (state !== "lost") return stateReader(columns, state, pass, annotated);
      return (row) => from.isLost(file === from.rollouts ? row : -row - 1);
    },
    text: (text) => (row) => hasText(file, row, text),
  };
}

function numberReader(columns: RowColumns, field: NumberField): (row: number) => number {
  switch (field) {
    case "reward":
      return (row) => (columns.failed(row) ? Number.NaN : columns.reward(row));
    case "task":
      return (row) => columns.task(row);
    case "repeat":
      return (row) => columns.rollout(row);
    case "attempt":
      return (row) => columns.attempt(row);
    case "turns":
      return (row) => columns.turns(row);
    case "calls":
      return (row) => columns.toolCalls(row);
    case "tokens":
      return (row) => columns.outputTokens(row);
    case "input":
      return (row) => columns.inputTokens(row);
    case "cost":
      return (row) => columns.cost(row);
    case "seconds":
      return (row) => columns.durationMs(row) / 1000;
    case "bytes":
      return (row) => columns.bytes(row);
    case "line":
      return (row) => row + 1;
  }
}

function stateReader(
  columns: RowColumns,
  state: Exclude<State, "lost">,
  pass: number,
  annotated: (row: number) => { labels: string[]; note: string; exclude: boolean } | undefined,
): (row: number) => boolean {
  switch (state) {
    case "completed":
      return (row) => !columns.failed(row) && columns.isReadable(row);
    case "failed":
      return (row) => columns.failed(row);
    case "passed":
      return (row) => columns.countedReward(row) >= pass;
    case "partial":
      return (row) => columns.countedReward(row) > 0 && columns.countedReward(row) < pass;
    case "zero":
      return (row) => columns.countedReward(row) <= 0;
    case "masked":
      return (row) => columns.masked(row);
    case "retried":
      return (row) => !columns.failed(row) && columns.attempt(row) > 0;
    case "bad":
      return (row) => !columns.isReadable(row);
    case "annotated":
      return (row) => annotated(row) !== undefined;
    case "excluded":
      return (row) => annotated(row)?.exclude ?? false;
  }
}

function sortedRows(
  selected: Int32Array,
  { rollouts, failures }: SelectedFrom,
  sort: Exclude<RowRequest["sort"], "file">,
  order: RowRequest["order"],
): Int32Array {
  const direction = order === "asc" ? 1 : -1;
  const sortedBy = (rows: Int32Array, field: NumberField) => {
    const ofRollout = numberReader(rollouts.columns, field);
    const ofFailure = numberReader(failures.columns, field);
    return sortedByKey(
      rows,
      (code) => direction * (isFailureRow(code) ? ofFailure(rowOf(code)) : ofRollout(code)),
    );
  };
  // The sort is stable, so the secondary key is sorted first.
  return sortedBy(sort === "task" ? sortedBy(selected, "repeat") : selected, sort);
}

/**
 * Sorts rows by a number, missing ones last; the sort is stable. The sorted keys give the start position of each key: a
 * comparison sort would copy the rows of a large run several times.
 */
function sortedByKey(rows: Int32Array, keyOf: (code: RowCode) => number): Int32Array {
  const keys = new Float64Array(rows.length);
  for (let place = 0; place < rows.length; place++) keys[place] = keyOf(rows[place] ?? 0);
  keys.sort();
  const sorted = new Int32Array(rows.length);
  /** By start position of a key: the number of rows with that key placed so far. */
  const filled = new Uint32Array(rows.length);
  for (const code of rows) {
    const start = startOf(keys, keyOf(code));
    const before = filled[start] ?? 0;
    sorted[start + before] = code;
    filled[start] = before + 1;
  }
  return sorted;
}

/** The first position of a key among sorted ones, with NaN at the end. */
function startOf(sorted: Float64Array, key: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle] ?? 0;
    if (other < key || (Number.isNaN(key) && !Number.isNaN(other))) low = middle + 1;
    else high = middle;
  }
  return low;
}
