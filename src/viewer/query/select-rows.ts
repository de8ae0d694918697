import type { Annotation, RowRef } from "../api-types.ts";
import type { RowColumns } from "../index/row-columns.ts";
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

export function rowCodeOf({ source, line }: RowRef): RowCode {
  return source === "failures" ? -line : line - 1;
}

export function refOf(code: RowCode): RowRef {
  return { source: isFailureRow(code) ? "failures" : "rollouts", line: rowOf(code) + 1 };
}

/** A file of rows, on disk or in the page of a static copy. */
export interface RowFile {
  readonly columns: RowColumns;
  /** The beginning of the last question and of the last answer. */
  excerpts(row: number): Promise<{ prompt: string; answer: string }>;
}

/** The two files of a run with rows. */
export interface RowFiles {
  rollouts: RowFile;
  failures: RowFile;
}

/** The annotations of a run. */
export interface RowAnnotations {
  of(task: number, rollout: number): Annotation | undefined;
}

/** The indexed facts of the file that contains a row. */
export function columnsOf({ rollouts, failures }: RowFiles, code: RowCode): RowColumns {
  return isFailureRow(code) ? failures.columns : rollouts.columns;
}

interface SelectedFrom extends RowFiles {
  annotations: RowAnnotations;
  isLost: (code: RowCode) => boolean;
}

/** The rows that match a request, in its order. */
export function matchingRows(
  from: SelectedFrom,
  request: Pick<RowRequest, "terms" | "sort" | "order" | "pass">,
  hasText: (file: RowFile, row: number, text: string) => boolean,
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
  file: RowFile,
  from: SelectedFrom,
  pass: number,
  hasText: (file: RowFile, row: number, text: string) => boolean,
): TermReader<number> {
  const { columns } = file;
  const contains = (value: string) => (name: string) => name.toLowerCase().includes(value.toLowerCase());
  const annotated = (row: number) => from.annotations.of(columns.task(row), columns.rollout(row));
  const byId = (ids: Set<number>, id: (row: number) => number) => (row: number) => ids.has(id(row));
  return {
    number: (field) => {
      const read = NUMBERS[field];
      return (row) => read(columns, row);
    },
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
      if (state === "lost") return (row) => from.isLost(file === from.rollouts ? row : -row - 1);
      return stateReader(columns, state, pass, annotated);
    },
    text: (text) => (row) => hasText(file, row, text),
  };
}

const NUMBERS: Readonly<Record<NumberField, (columns: RowColumns, row: number) => number>> = {
  reward: (columns, row) => (columns.failed(row) ? Number.NaN : columns.reward(row)),
  task: (columns, row) => columns.task(row),
  repeat: (columns, row) => columns.rollout(row),
  attempt: (columns, row) => columns.attempt(row) + 1,
  turns: (columns, row) => columns.turns(row),
  calls: (columns, row) => columns.toolCalls(row),
  tokens: (columns, row) => columns.outputTokens(row),
  input: (columns, row) => columns.inputTokens(row),
  cost: (columns, row) => columns.cost(row),
  seconds: (columns, row) => columns.durationMs(row) / 1000,
  bytes: (columns, row) => columns.bytes(row),
  line: (_, row) => row + 1,
};

function stateReader(
  columns: RowColumns,
  state: Exclude<State, "lost">,
  pass: number,
  annotated: (row: number) => Annotation | undefined,
): (row: number) => boolean {
  const reward = (row: number) => columns.countedReward(row);
  const tests: Record<typeof state, (row: number) => boolean> = {
    completed: (row) => !columns.failed(row) && columns.isReadable(row),
    failed: (row) => columns.failed(row),
    passed: (row) => reward(row) >= pass,
    partial: (row) => reward(row) > 0 && reward(row) < pass,
    zero: (row) => reward(row) <= 0,
    masked: (row) => columns.masked(row),
    retried: (row) => !columns.failed(row) && columns.attempt(row) > 0,
    bad: (row) => !columns.isReadable(row),
    annotated: (row) => annotated(row) !== undefined,
    excluded: (row) => annotated(row)?.exclude ?? false,
  };
  return tests[state];
}

function sortedRows(
  selected: Int32Array,
  files: RowFiles,
  sort: Exclude<RowRequest["sort"], "file">,
  order: RowRequest["order"],
): Int32Array {
  const direction = order === "asc" ? 1 : -1;
  const sortedBy = (rows: Int32Array, field: NumberField) => {
    const read = NUMBERS[field];
    return sortedByKey(rows, (code) => direction * read(columnsOf(files, code), rowOf(code)));
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
