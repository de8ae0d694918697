import { GrowableDoubles, GrowableIntegers } from "../../metrics/growable-array.ts";
import { Names } from "./names.ts";
import type { RowFacts } from "./row-skim.ts";

const UNREADABLE = 1;
const MASKED = 2;
/** Stands for a whole number that is not there. */
const NONE = 0xffff_ffff;

/** Columns of whole numbers below 2^32 − 1. */
const INTEGERS = [
  "bytes",
  "rollout",
  "attempt",
  "inputTokens",
  "outputTokens",
  "durationMs",
  "turns",
  "toolCalls",
  "promptAt",
  "answerAt",
  "agent",
  "failure",
  "model",
  "tools",
  "flags",
] as const;
const DOUBLES = ["offset", "task", "reward", "cost"] as const;
const NAMES = ["agents", "failures", "models", "toolSets"] as const;

type IntegerColumn = (typeof INTEGERS)[number];
type DoubleColumn = (typeof DOUBLES)[number];
type NameColumn = (typeof NAMES)[number];

/** The columns as they are stored: names of each kind, and the numbers column by column. */
export interface StoredColumns {
  rows: number;
  names: Record<NameColumn, string[]>;
}

/** What is known of every row of a file, column by column: some ninety bytes a row. */
export class RowColumns {
  readonly agents = new Names();
  readonly failures = new Names();
  readonly models = new Names();
  /** Sets of tool names, each as one text with a newline between the names. */
  readonly toolSets = new Names();
  readonly #integers = Object.fromEntries(INTEGERS.map((name) => [name, new GrowableIntegers()])) as Record<
    IntegerColumn,
    GrowableIntegers
  >;
  readonly #doubles = Object.fromEntries(DOUBLES.map((name) => [name, new GrowableDoubles()])) as Record<
    DoubleColumn,
    GrowableDoubles
  >;
  unreadable = 0;

  get length(): number {
    return this.#doubles.offset.length;
  }

  /** Adds a row; without facts it is a line that is no row. */
  push(place: { offset: number; length: number }, facts: RowFacts | undefined): void {
    const { agents, failures, models, toolSets } = this;
    this.#doubles.offset.push(place.offset);
    this.#doubles.task.push(facts?.task ?? Number.NaN);
    this.#doubles.reward.push(facts?.reward ?? Number.NaN);
    this.#doubles.cost.push(facts?.cost ?? Number.NaN);
    const integers = this.#integers;
    integers.bytes.push(place.length);
    integers.rollout.push(integer(facts?.rollout));
    integers.attempt.push(integer(facts?.attempt));
    integers.inputTokens.push(integer(facts?.inputTokens));
    integers.outputTokens.push(integer(facts?.outputTokens));
    integers.durationMs.push(integer(facts?.durationMs));
    integers.turns.push(integer(facts?.turns));
    integers.toolCalls.push(integer(facts?.toolCalls));
    integers.promptAt.push(integer(facts?.promptAt));
    integers.answerAt.push(integer(facts?.answerAt));
    integers.agent.push(agents.place(facts?.agent));
    integers.failure.push(failures.place(facts?.failure));
    integers.model.push(models.place(facts?.model));
    integers.tools.push(facts?.tools.length ? toolSets.place(facts.tools.join("\n")) : 0);
    integers.flags.push((facts === undefined ? UNREADABLE : 0) | (facts?.masked ? MASKED : 0));
    if (facts === undefined) this.unreadable++;
  }

  offset(row: number): number {
    return this.#doubles.offset.at(row);
  }
  bytes(row: number): number {
    return this.#integers.bytes.at(row);
  }
  task(row: number): number {
    return this.#doubles.task.at(row);
  }
  reward(row: number): number {
    return this.#doubles.reward.at(row);
  }
  cost(row: number): number {
    return this.#doubles.cost.at(row);
  }
  rollout(row: number): number {
    return number(this.#integers.rollout.at(row));
  }
  /** How many attempts failed before; 0 where the row does not say. */
  attempt(row: number): number {
    const attempt = this.#integers.attempt.at(row);
    return attempt === NONE ? 0 : attempt;
  }
  inputTokens(row: number): number {
    return number(this.#integers.inputTokens.at(row));
  }
  outputTokens(row: number): number {
    return number(this.#integers.outputTokens.at(row));
  }
  durationMs(row: number): number {
    return number(this.#integers.durationMs.at(row));
  }
  turns(row: number): number {
    return number(this.#integers.turns.at(row));
  }
  toolCalls(row: number): number {
    return number(this.#integers.toolCalls.at(row));
  }
  promptAt(row: number): number {
    return number(this.#integers.promptAt.at(row));
  }
  answerAt(row: number): number {
    return number(this.#integers.answerAt.at(row));
  }
  /** Numbers of names; 0 for none. */
  agentId(row: number): number {
    return this.#integers.agent.at(row);
  }
  failureId(row: number): number {
    return this.#integers.failure.at(row);
  }
  modelId(row: number): number {
    return this.#integers.model.at(row);
  }
  toolSetId(row: number): number {
    return this.#integers.tools.at(row);
  }
  agent(row: number): string | undefined {
    return this.agents.name(this.agentId(row));
  }
  failure(row: number): string | undefined {
    return this.failures.name(this.failureId(row));
  }
  isReadable(row: number): boolean {
    return (this.#integers.flags.at(row) & UNREADABLE) === 0;
  }
  masked(row: number): boolean {
    return (this.#integers.flags.at(row) & MASKED) !== 0;
  }
  failed(row: number): boolean {
    return this.#integers.failure.at(row) !== 0;
  }
  /** The reward where it counts: a failed attempt has none, and masked rows are not to be learned from. */
  countedReward(row: number): number {
    return this.failed(row) || this.masked(row) ? Number.NaN : this.reward(row);
  }

  /** What `restored` reads: a description, and the numbers as bytes. */
  stored(): { description: StoredColumns; parts: Uint8Array[] } {
    const names = Object.fromEntries(NAMES.map((name) => [name, this[name].all])) as StoredColumns["names"];
    const rows = this.length;
    const arrays = [
      ...DOUBLES.map((name) => this.#doubles[name].values.subarray(0, rows)),
      ...INTEGERS.map((name) => this.#integers[name].values.subarray(0, rows)),
    ];
    return {
      description: { rows, names },
      parts: arrays.map((array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)),
    };
  }

  /** Bytes of the numbers of so many rows. */
  static storedBytes(rows: number): number {
    return rows * (8 * DOUBLES.length + 4 * INTEGERS.length);
  }

  static restored({ rows, names }: StoredColumns, bytes: Buffer): RowColumns {
    const columns = new RowColumns();
    let at = 0;
    const part = (length: number): ArrayBuffer => {
      // A copy of its own: typed arrays want their place aligned.
      const copy = new Uint8Array(length);
      copy.set(bytes.subarray(at, at + length));
      at += length;
      return copy.buffer;
    };
    for (const name of DOUBLES) fill(columns.#doubles[name], new Float64Array(part(8 * rows)));
    for (const name of INTEGERS) fill(columns.#integers[name], new Uint32Array(part(4 * rows)));
    for (const name of NAMES) columns[name].restore(names[name]);
    for (let row = 0; row < rows; row++) if (!columns.isReadable(row)) columns.unreadable++;
    return columns;
  }
}

function fill<T extends Float64Array | Uint32Array>(column: { length: number; values: T }, values: T): void {
  if (values.length === 0) return;
  column.values = values;
  column.length = values.length;
}

function integer(value: number | undefined): number {
  if (value === undefined || !(value >= 0)) return NONE;
  return Math.min(Math.round(value), NONE - 1);
}

function number(value: number): number {
  return value === NONE ? Number.NaN : value;
}
