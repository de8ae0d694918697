import { NumberColumn, type Width } from "./number-column.ts";

/** Further names share one number. */
const MAX_NAMES = 10_000;
const OTHERS = "(others)";

const UNREADABLE = 1;
const MASKED = 2;
const FINAL = 4;
const TERMINAL = 8;

const COLUMNS = [
  "offset",
  "bytes",
  "task",
  "rollout",
  "attempt",
  "reward",
  "cost",
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
const NAMES = ["agents", "failures", "models", "toolSets"] as const;

type Columns = Record<(typeof COLUMNS)[number], NumberColumn>;

/** The indexed facts of a row. Missing numbers are undefined. */
export class RowFacts {
  task: number | undefined;
  rollout: number | undefined;
  attempt: number | undefined;
  reward: number | undefined;
  agent: string | undefined;
  masked = false;
  failure: string | undefined;
  /** Whether the failure is known not to be retryable. */
  isFinal = false;
  /** Whether a resumed run does not run the rollout again. */
  isTerminal = false;
  model: string | undefined;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cost: number | undefined;
  durationMs: number | undefined;
  /** Number of model turns, as far as the row shows. */
  turns = 0;
  toolCalls = 0;
  tools: string[] = [];
  /** Byte offset in the row of the last text of the user and of the model; undefined without one. */
  promptAt: number | undefined;
  answerAt: number | undefined;
}

/** The columns as stored: names of each kind, and the numbers column by column. */
export interface StoredColumns {
  rows: number;
  /** Bytes of a number, column by column. */
  widths: Width[];
  names: Record<(typeof NAMES)[number], string[]>;
}

/** The indexed facts of every row of a file, by column: 30 to 60 bytes per row. */
export class RowColumns {
  readonly agents = new Names();
  readonly failures = new Names();
  readonly models = new Names();
  /** Sets of tool names, each as one text with a newline between the names. */
  readonly toolSets = new Names();
  #columns = columnsOf(() => new NumberColumn());
  unreadable = 0;

  get length(): number {
    return this.#columns.offset.length;
  }

  /** The numbers of all rows. */
  *rows(): Iterable<number> {
    for (let row = 0; row < this.length; row++) yield row;
  }

  /** Adds a row; without facts it is a line that is not a row. */
  push(place: { offset: number; length: number }, facts: RowFacts | undefined): void {
    const { agents, failures, models, toolSets } = this;
    const columns = this.#columns;
    columns.offset.push(place.offset);
    columns.bytes.push(place.length);
    columns.task.push(facts?.task ?? Number.NaN);
    columns.rollout.push(count(facts?.rollout));
    columns.attempt.push(count(facts?.attempt));
    columns.reward.push(facts?.reward ?? Number.NaN);
    columns.cost.push(facts?.cost ?? Number.NaN);
    columns.inputTokens.push(count(facts?.inputTokens));
    columns.outputTokens.push(count(facts?.outputTokens));
    columns.durationMs.push(count(facts?.durationMs));
    columns.turns.push(count(facts?.turns));
    columns.toolCalls.push(count(facts?.toolCalls));
    columns.promptAt.push(count(facts?.promptAt));
    columns.answerAt.push(count(facts?.answerAt));
    columns.agent.push(agents.place(facts?.agent));
    columns.failure.push(failures.place(facts?.failure));
    columns.model.push(models.place(facts?.model));
    columns.tools.push(facts?.tools.length ? toolSets.place(facts.tools.join("\n")) : 0);
    columns.flags.push(
      (facts === undefined ? UNREADABLE : 0) |
        (facts?.masked ? MASKED : 0) |
        (facts?.isFinal ? FINAL : 0) |
        (facts?.isTerminal ? TERMINAL : 0),
    );
    if (facts === undefined) this.unreadable++;
  }

  offset(row: number): number {
    return this.#columns.offset.at(row);
  }
  bytes(row: number): number {
    return this.#columns.bytes.at(row);
  }
  task(row: number): number {
    return this.#columns.task.at(row);
  }
  reward(row: number): number {
    return this.#columns.reward.at(row);
  }
  cost(row: number): number {
    return this.#columns.cost.at(row);
  }
  rollout(row: number): number {
    return this.#columns.rollout.at(row);
  }
  /** Number of failed attempts before; 0 if the row does not have it. */
  attempt(row: number): number {
    return this.#columns.attempt.at(row) || 0;
  }
  inputTokens(row: number): number {
    return this.#columns.inputTokens.at(row);
  }
  outputTokens(row: number): number {
    return this.#columns.outputTokens.at(row);
  }
  durationMs(row: number): number {
    return this.#columns.durationMs.at(row);
  }
  turns(row: number): number {
    return this.#columns.turns.at(row);
  }
  toolCalls(row: number): number {
    return this.#columns.toolCalls.at(row);
  }
  promptAt(row: number): number {
    return this.#columns.promptAt.at(row);
  }
  answerAt(row: number): number {
    return this.#columns.answerAt.at(row);
  }
  /** Numbers of names; 0 for none. */
  agentId(row: number): number {
    return this.#columns.agent.at(row);
  }
  failureId(row: number): number {
    return this.#columns.failure.at(row);
  }
  modelId(row: number): number {
    return this.#columns.model.at(row);
  }
  toolSetId(row: number): number {
    return this.#columns.tools.at(row);
  }
  agent(row: number): string | undefined {
    return this.agents.name(this.agentId(row));
  }
  failure(row: number): string | undefined {
    return this.failures.name(this.failureId(row));
  }
  isReadable(row: number): boolean {
    return (this.#columns.flags.at(row) & UNREADABLE) === 0;
  }
  masked(row: number): boolean {
    return (this.#columns.flags.at(row) & MASKED) !== 0;
  }
  /** Whether the row is a failed attempt that is known not to be retryable. */
  isFinal(row: number): boolean {
    return (this.#columns.flags.at(row) & FINAL) !== 0;
  }
  /** Whether a resumed run does not run the rollout of a failed attempt again. */
  isTerminal(row: number): boolean {
    return (this.#columns.flags.at(row) & TERMINAL) !== 0;
  }
  failed(row: number): boolean {
    return this.#columns.failure.at(row) !== 0;
  }
  /** The valid reward: failed attempts and masked rows have none. */
  countedReward(row: number): number {
    return this.failed(row) || this.masked(row) ? Number.NaN : this.reward(row);
  }

  /** The format of `restored`: a description, and the numbers as bytes. */
  stored(): { description: StoredColumns; parts: Uint8Array[] } {
    const names = Object.fromEntries(NAMES.map((name) => [name, this[name].all])) as StoredColumns["names"];
    const columns = COLUMNS.map((name) => this.#columns[name]);
    return {
      description: { rows: this.length, widths: columns.map(({ width }) => width), names },
      parts: columns.map(({ bytes }) => bytes),
    };
  }

  /** Reads columns; `next` returns the next bytes of the stored data. */
  static async restored(
    { rows, widths, names }: StoredColumns,
    next: (bytes: number) => Promise<ArrayBuffer>,
  ): Promise<RowColumns> {
    if (widths.length !== COLUMNS.length) throw new Error("the columns are other ones");
    const restored = new RowColumns();
    const read: NumberColumn[] = [];
    for (const width of widths) read.push(NumberColumn.restored(await next(width * rows), width));
    restored.#columns = columnsOf((place) => read[place] ?? new NumberColumn());
    for (const name of NAMES) restored[name].restore(names[name]);
    for (let row = 0; row < rows; row++) if (!restored.isReadable(row)) restored.unreadable++;
    return restored;
  }

  /** Bytes of the numbers that a description is about. */
  static storedBytes({ rows, widths }: StoredColumns): number {
    return rows * widths.reduce((sum, width) => sum + width, 0);
  }
}

function columnsOf(column: (place: number) => NumberColumn): Columns {
  return Object.fromEntries(COLUMNS.map((name, place) => [name, column(place)])) as Columns;
}

function count(value: number | undefined): number {
  return value === undefined || !(value >= 0) ? Number.NaN : Math.round(value);
}

/** Numbers for names that many rows share. */
class Names {
  readonly #places = new Map<string, number>();
  readonly all: string[] = [];

  /** The number of a name, from 1; 0 for none. */
  place(name: string | undefined): number {
    if (name === undefined) return 0;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    if (this.all.length >= MAX_NAMES) return MAX_NAMES;
    const shown = this.all.length === MAX_NAMES - 1 ? OTHERS : name;
    this.all.push(shown);
    this.#places.set(shown, this.all.length);
    return this.all.length;
  }

  name(place: number): string | undefined {
    return this.all[place - 1];
  }

  /** The numbers of all names that pass a test. */
  matching(test: (name: string) => boolean): Set<number> {
    return new Set(this.all.flatMap((name, index) => (test(name) ? [index + 1] : [])));
  }

  restore(names: readonly string[]): void {
    for (const name of names) this.place(name);
  }
}
