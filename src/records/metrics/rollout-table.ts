import { medianOfSorted, sampleDeviation, sortAscending } from "./descriptive.ts";
import { MetricsError } from "./errors.ts";
import { GrowableDoubles, GrowableIntegers } from "./growable-array.ts";
import { numberOf, type Row, rowIndices, usageOf } from "./rollout-row.ts";

/** The rollouts of one task by their row numbers in the table, in ascending rollout index. */
export interface TaskSlice {
  taskIndex: number;
  rows: Uint32Array;
}

/** In the order of the keys of a record. */
const STATISTICS = ["mean", "max", "min", "median", "std"] as const;

/** The keys of a record of statistics, and the positions of their values. */
interface Shape {
  keys: string[];
  places: number[];
  example: Row;
}

/** Members of a record before and after its statistics. */
export interface RecordFrame {
  name: string;
  before: readonly string[];
  after: readonly string[];
}

const NO_FRAME: RecordFrame = { name: "", before: [], after: [] };

const MAX_SHAPES = 1000;

/** Present only in the usage of rollouts with retries or waiting: a mean over those alone would mislead. */
const OCCASIONAL: ReadonlySet<string> = new Set(["ng_retries", "ng_waited_ms"]);

/**
 * The numbers of many rollouts, 12 bytes per value.
 *
 * Rows are added in any order and not kept; statistics are computed for any set of them. A column is a top-level field
 * or a member of `response.usage` that is a number or a boolean somewhere; usage takes precedence over a field of the
 * same name.
 */
export class RolloutTable {
  private readonly columns: string[] = [];
  private readonly columnIds = new Map<string, number>();
  private readonly taskIndices = new GrowableDoubles();
  private readonly rolloutIndices = new GrowableDoubles();
  /** NaN if the reward is not a finite number; `rewardsAsGiven` then has the original value, if any. */
  private readonly rewards = new GrowableDoubles();
  private readonly rewardsAsGiven = new Map<number, unknown>();
  /** Start of the entries of each row; has one element more than there are rows. */
  private readonly starts = new GrowableIntegers();
  /** Column number times two, plus one when the value comes from usage. */
  private readonly entryColumns = new GrowableIntegers();
  private readonly entryValues = new GrowableDoubles();
  /** Values that differ between `rollout_infos` and the statistics: row fields that usage also has, and NaN. */
  private readonly infoOverrides = new Map<number, Map<string, number>>();
  private readonly shapes = new Map<string, Shape>();
  private counts = new Uint32Array(64);
  private offsets = new Uint32Array(64);
  private scratch = new Float64Array(256);

  constructor() {
    this.starts.push(0);
  }

  /** Number of added rollouts. */
  get size(): number {
    return this.rewards.length;
  }

  /** Adds one rollout row; both indices are required. */
  add(row: Row): void {
    const { taskIndex, rolloutIndex } = rowIndices(row);
    const number = this.size;
    const usage = usageOf(row);
    for (const name in row) {
      // Members of the run itself, such as `_ng_attempt_index`, are not results.
      if (name.startsWith("_") || name === "mask_sample") continue;
      const value = numberOf(row[name]);
      if (value === undefined) continue;
      // For a field that usage also has, only usage counts, even if its value there is not a number.
      if (Number.isNaN(value) || (usage && Object.hasOwn(usage, name)))
        this.overrideInfo(number, name, value);
      else this.addEntry(name, value, 0);
    }
    for (const name in usage) {
      if (OCCASIONAL.has(name)) continue;
      const value = numberOf(usage[name]);
      if (value !== undefined && !Number.isNaN(value)) this.addEntry(name, value, 1);
    }
    this.addReward(row, number);
    this.taskIndices.push(taskIndex);
    this.rolloutIndices.push(rolloutIndex);
    this.starts.push(this.entryValues.length);
  }

  private addReward(row: Row, number: number): void {
    const reward = row["reward"];
    if (typeof reward === "number" && Number.isFinite(reward)) this.rewards.push(reward);
    else {
      this.rewards.push(Number.NaN);
      if (reward !== undefined) this.rewardsAsGiven.set(number, reward);
    }
  }

  private addEntry(name: string, value: number, fromUsage: 0 | 1): void {
    if (!Number.isFinite(value)) {
      throw new MetricsError(
        "METRICS_INFINITE_VALUE",
        `The field '${name}' of a rollout is infinite; no statistics exist for it.`,
      );
    }
    this.entryColumns.push(this.columnId(name) * 2 + fromUsage);
    this.entryValues.push(value);
  }

  private overrideInfo(row: number, name: string, value: number): void {
    const overrides = this.infoOverrides.get(row) ?? new Map<string, number>();
    this.infoOverrides.set(row, overrides.set(name, value));
  }

  private columnId(name: string): number {
    const known = this.columnIds.get(name);
    if (known !== undefined) return known;
    const id = this.columns.length;
    this.columnIds.set(name, id);
    this.columns.push(name);
    return id;
  }

  /** The tasks in ascending order with their rollouts; a repeated (task, rollout) pair is an error. */
  *tasks(): Generator<TaskSlice> {
    const rows = this.sortedRows();
    for (let start = 0; start < rows.length; ) {
      const taskIndex = this.taskIndices.at(rows[start] ?? 0);
      let end = start + 1;
      for (; end < rows.length && this.taskIndices.at(rows[end] ?? 0) === taskIndex; end++) {
        const rolloutIndex = this.rolloutIndices.at(rows[end] ?? 0);
        if (rolloutIndex === this.rolloutIndices.at(rows[end - 1] ?? 0)) {
          throw new MetricsError(
            "METRICS_DUPLICATE_ROLLOUT",
            `Rollout ${rolloutIndex} of task ${taskIndex} occurs more than once.`,
          );
        }
      }
      yield { taskIndex, rows: rows.subarray(start, end) };
      start = end;
    }
  }

  private sortedRows(): Uint32Array {
    const tasks = this.taskIndices.values;
    const rollouts = this.rolloutIndices.values;
    const rows = this.allRows();
    const compare = (left: number, right: number) =>
      (tasks[left] ?? 0) - (tasks[right] ?? 0) || (rollouts[left] ?? 0) - (rollouts[right] ?? 0);
    return rows.every((row) => row === 0 || compare(row - 1, row) <= 0) ? rows : rows.sort(compare);
  }

  /** Every row of the table, in the order of addition. */
  allRows(): Uint32Array {
    const rows = new Uint32Array(this.size);
    for (let row = 0; row < rows.length; row++) rows[row] = row;
    return rows;
  }

  /** The rows of each rollout index, ascending. */
  repeats(): { rolloutIndex: number; rows: Uint32Array }[] {
    const byIndex = new Map<number, number[]>();
    for (const row of this.allRows()) {
      const rolloutIndex = this.rolloutIndices.at(row);
      const rows = byIndex.get(rolloutIndex);
      if (rows) rows.push(row);
      else byIndex.set(rolloutIndex, [row]);
    }
    return [...byIndex]
      .sort(([left], [right]) => left - right)
      .map(([rolloutIndex, rows]) => ({ rolloutIndex, rows: Uint32Array.from(rows) }));
  }

  /** The values of every column that has one in these rows, ascending. */
  valuesOf(rows: Uint32Array): [string, Float64Array][] {
    return this.gather(rows).map((column) => {
      const start = this.offsets[column] ?? 0;
      const values = this.scratch.slice(start, start + (this.counts[column] ?? 0));
      this.counts[column] = 0;
      return [this.columns[column] ?? "", sortAscending(values)];
    });
  }

  /** The reward of one row as a number (a boolean counts as 0 or 1); undefined if it has none. */
  reward(row: number): number | undefined {
    const reward = this.rewards.at(row);
    return Number.isNaN(reward) ? finiteOrUndefined(numberOf(this.rewardsAsGiven.get(row))) : reward;
  }

  /**
   * `mean/…`, `max/…`, `min/…`, `median/…` and `std/…` of every column that has a value in these rows. A statistic that is undefined
   * is absent; the deviation of a single row is 0. `frame` names further members, which the caller has to fill in.
   */
  statistics(rows: Uint32Array, frame: RecordFrame = NO_FRAME): Record<string, unknown> {
    const touched = this.gather(rows);
    const width = touched.length;
    const found = new Float64Array(width * STATISTICS.length);
    touched.forEach((column, place) => {
      const count = this.counts[column] ?? 0;
      const start = this.offsets[column] ?? 0;
      const values = this.scratch.subarray(start, start + count);
      const average = meanOf(values);
      sortAscending(values);
      found[place] = average;
      found[width + place] = values[count - 1] ?? Number.NaN;
      found[2 * width + place] = values[0] ?? Number.NaN;
      found[3 * width + place] = medianOfSorted(values);
      found[4 * width + place] = rows.length === 1 ? 0 : sampleDeviation(values, average);
      this.counts[column] = 0;
    });
    return this.named(touched, found, frame);
  }

  /** Assigns keys to statistics; omits NaN. */
  private named(columns: number[], found: Float64Array, frame: RecordFrame): Record<string, unknown> {
    let shapeKey = `${frame.name} ${columns.join()}`;
    for (let index = 0; index < found.length; index++)
      if (Number.isNaN(found[index])) shapeKey += ` ${index}`;
    const shape = this.shapes.get(shapeKey) ?? this.addShape(shapeKey, columns, found, frame);
    const result = { ...shape.example };
    for (let index = 0; index < shape.keys.length; index++) {
      result[shape.keys[index] ?? ""] = found[shape.places[index] ?? 0] ?? 0;
    }
    return result;
  }

  private addShape(shapeKey: string, columns: number[], found: Float64Array, frame: RecordFrame): Shape {
    const keys = STATISTICS.flatMap((statistic) => columns.map((id) => `${statistic}/${this.columns[id]}`));
    const places = keys.map((_, place) => place).filter((place) => !Number.isNaN(found[place]));
    const named = places.map((place) => keys[place] ?? "");
    const members = [...frame.before, ...named, ...frame.after];
    const example = Object.fromEntries(members.map((key) => [key, 0])) as Row;
    const shape = { keys: named, places, example };
    if (this.shapes.size < MAX_SHAPES) this.shapes.set(shapeKey, shape);
    return shape;
  }

  /** Groups the values of these rows by column into `scratch`; returns the columns with values, in order. */
  private gather(rows: Uint32Array): number[] {
    this.reserve(rows);
    const touched: number[] = [];
    const { values: starts } = this.starts;
    const { values: entryColumns } = this.entryColumns;
    const { values: entryValues } = this.entryValues;
    const { counts, offsets, scratch } = this;
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] ?? 0;
      for (let entry = starts[row] ?? 0; entry < (starts[row + 1] ?? 0); entry++) {
        const column = (entryColumns[entry] ?? 0) >>> 1;
        if (counts[column] === 0) touched.push(column);
        counts[column] = (counts[column] ?? 0) + 1;
      }
    }
    touched.sort((left, right) => left - right);
    let offset = 0;
    for (const column of touched) {
      offset += counts[column] ?? 0;
      offsets[column] = offset;
    }
    for (let index = rows.length - 1; index >= 0; index--) {
      const row = rows[index] ?? 0;
      for (let entry = starts[row] ?? 0; entry < (starts[row + 1] ?? 0); entry++) {
        const column = (entryColumns[entry] ?? 0) >>> 1;
        const slot = (offsets[column] ?? 0) - 1;
        offsets[column] = slot;
        scratch[slot] = entryValues[entry] ?? 0;
      }
    }
    return touched;
  }

  private reserve(rows: Uint32Array): void {
    let entries = 0;
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] ?? 0;
      entries += this.starts.at(row + 1) - this.starts.at(row);
    }
    if (this.scratch.length < entries)
      this.scratch = new Float64Array(Math.max(entries, this.scratch.length * 2));
    if (this.counts.length < this.columns.length) {
      this.counts = new Uint32Array(this.columns.length * 2);
      this.offsets = new Uint32Array(this.columns.length * 2);
    }
  }

  /** The `rollout_infos` of these rows. */
  infos(rows: Uint32Array): Row[] {
    return Array.from(rows, (row) => this.info(row));
  }

  /** The `rollout_infos` entry of one row: identity, reward as given, usage members, then the row's own numbers. */
  info(row: number): Row {
    const taskIndex = this.taskIndices.at(row);
    const rolloutIndex = this.rolloutIndices.at(row);
    const info: Row = {
      rollout_id: `${taskIndex}:${rolloutIndex}`,
      _ng_task_index: taskIndex,
      _ng_rollout_index: rolloutIndex,
    };
    const reward = this.rewards.at(row);
    if (!Number.isNaN(reward)) info["reward"] = reward;
    else if (this.rewardsAsGiven.has(row)) info["reward"] = this.rewardsAsGiven.get(row);
    for (const fromUsage of [1, 0]) {
      for (let entry = this.starts.at(row); entry < this.starts.at(row + 1); entry++) {
        const code = this.entryColumns.at(entry);
        const name = this.columns[code >>> 1] ?? "";
        // The row's reward is already present unchanged; a usage member of that name replaces it.
        if ((code & 1) === fromUsage && (fromUsage === 1 || name !== "reward"))
          info[name] = this.entryValues.at(entry);
      }
    }
    for (const [name, value] of this.infoOverrides.get(row) ?? []) if (name !== "reward") info[name] = value;
    return info;
  }
}

/** Compensated summation, so that the mean of many equal values is accurate to the last bits. */
function meanOf(values: Float64Array): number {
  let sum = 0;
  let lost = 0;
  for (let index = 0; index < values.length; index++) {
    const term = (values[index] ?? 0) - lost;
    const next = sum + term;
    lost = next - sum - term;
    sum = next;
  }
  return sum / values.length;
}

function finiteOrUndefined(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
