import { GrowableDoubles, GrowableIntegers } from "../metrics/growable-array.ts";
import type { RowState } from "./api-types.ts";
import type { RowSummary } from "./row-summary.ts";

const STATES: readonly RowState[] = ["ok", "invalid", "unreadable"];
const MASKED = 4;

/** The part of a row's summary that the list shows as text. */
export interface RowTexts {
  responseId: string | undefined;
  prompt: string;
  answer: string;
  problem: string | undefined;
}

/** Texts kept in memory, in characters; rows beyond are read from the file again when they are shown. */
const TEXT_BUDGET = 64 * 1024 * 1024;

/**
 * What is known of every row of a file, column by column: some fifty bytes a row, besides the texts, which have a budget. Absent
 * numbers are NaN.
 */
export class RowColumns {
  readonly offset = new GrowableDoubles();
  readonly bytes = new GrowableIntegers();
  readonly task = new GrowableDoubles();
  readonly rollout = new GrowableDoubles();
  readonly reward = new GrowableDoubles();
  readonly outputTokens = new GrowableDoubles();
  /** A place in `agents`, plus one; 0: the row names none. */
  readonly agent = new GrowableIntegers();
  /** A place in `failures`, plus one; 0: the rollout did not fail. */
  readonly failure = new GrowableIntegers();
  readonly agents = new Names();
  readonly failures = new Names();
  readonly #flags = new GrowableIntegers();
  readonly #texts: (string | undefined)[] = [];
  readonly #budget: number;
  readonly #stateCounts = { ok: 0, invalid: 0, unreadable: 0 };
  #textLength = 0;

  constructor(options: { textBudget?: number } = {}) {
    this.#budget = options.textBudget ?? TEXT_BUDGET;
  }

  get length(): number {
    return this.offset.length;
  }

  push(summary: RowSummary, place: { offset: number; length: number }): void {
    this.offset.push(place.offset);
    this.bytes.push(place.length);
    this.task.push(summary.task ?? Number.NaN);
    this.rollout.push(summary.rollout ?? Number.NaN);
    this.reward.push(summary.reward ?? Number.NaN);
    this.outputTokens.push(summary.outputTokens ?? Number.NaN);
    this.agent.push(this.agents.place(summary.agent));
    this.failure.push(this.failures.place(summary.failure));
    this.#flags.push(STATES.indexOf(summary.state) | (summary.masked ? MASKED : 0));
    this.#stateCounts[summary.state]++;
    const text = JSON.stringify(textsOf(summary));
    this.#textLength += text.length;
    this.#texts.push(this.#textLength > this.#budget ? undefined : text);
  }

  state(row: number): RowState {
    return STATES[this.#flags.at(row) & 3] ?? "unreadable";
  }

  stateCount(state: RowState): number {
    return this.#stateCounts[state];
  }

  masked(row: number): boolean {
    return (this.#flags.at(row) & MASKED) !== 0;
  }

  texts(row: number): RowTexts | undefined {
    const text = this.#texts[row];
    return text === undefined ? undefined : (JSON.parse(text) as RowTexts);
  }
}

/** The texts of a summary. */
export function textsOf({ responseId, prompt, answer, problems }: RowSummary): RowTexts {
  const [problem] = problems;
  const where = problem?.path ? `${problem.path}: ` : "";
  return { responseId, prompt, answer, problem: problem && `${where}${problem.message}` };
}

/** More different names than this are taken together. */
const MAX_NAMES = 1000;

/** Numbers for names that many rows share. */
export class Names {
  readonly #places = new Map<string, number>();
  readonly all: string[] = [];

  /** The number of a name, from 1; 0 for none. */
  place(name: string | undefined): number {
    if (name === undefined) return 0;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    if (this.all.length >= MAX_NAMES) return this.place(this.all.at(-1));
    const shown = this.all.length === MAX_NAMES - 1 ? "(others)" : name;
    this.all.push(shown);
    this.#places.set(shown, this.all.length);
    return this.all.length;
  }

  /** The number of a name that may never have been seen. */
  find(name: string): number | undefined {
    return this.#places.get(name);
  }

  name(place: number): string | undefined {
    return this.all[place - 1];
  }
}
