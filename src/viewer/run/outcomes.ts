import { isInfrastructureFailure } from "../../base/failures.ts";
import { type Coverage, hashOfRollout } from "../../records/metrics/door.ts";
import { isFailureRow, type RowCode, type RowFiles, rowOf } from "../query/select-rows.ts";

const FAILED = 1;
const MASKED = 2;
const COMPLETED = 3;
/** Minimum number of table slots per row. */
const SLOTS_PER_ROW = 1.6;

/** Numbers of failures in the progress of a running collection. */
interface FailedRollouts {
  failed: number;
  before: number;
  attempts: number;
}

/**
 * The row that determines the outcome of each rollout: the best one, and the last of several failures. Rows of both
 * files are numbered in one sequence, failures after rollouts.
 */
export class Outcomes {
  readonly #files: RowFiles;
  readonly #rollouts: number;
  /** Hash table of rows by task and repeat, 4 bytes per slot; row plus one, 0 for a free slot. */
  readonly #slots: Uint32Array;
  /** Number of rollouts in each state. */
  readonly #counts = [0, 0, 0, 0];

  /** By default of all rows, otherwise of the chosen ones. */
  constructor(files: RowFiles, chosen?: readonly RowCode[]) {
    this.#files = files;
    this.#rollouts = files.rollouts.columns.length;
    const rows = this.#rollouts + files.failures.columns.length;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2((chosen?.length ?? rows) * SLOTS_PER_ROW + 1)));
    if (chosen) for (const code of chosen) this.#add(this.#numberOf(code));
    else for (let row = 0; row < rows; row++) this.#add(row);
  }

  /** The coverage of the run, counted like `gym eval`: a rollout that failed and later completed is complete. */
  coverage(expected: number | null): Coverage {
    const [, failed = 0, masked = 0, ok = 0] = this.#counts;
    const all = Math.max(expected ?? 0, failed + masked + ok);
    return { expected: all, ok, masked, failed, missing: all - ok - masked - failed };
  }

  /** Whether a rollout was lost with this row: it did not complete, and this is its last failed attempt. */
  isLostBy(code: RowCode): boolean {
    return this.#stateOf(this.#numberOf(code)) === FAILED && this.isOutcome(code);
  }

  /** Whether a row determines the outcome of its rollout. Rows without indices have no other one. */
  isOutcome(code: RowCode): boolean {
    const row = this.#numberOf(code);
    return !this.#hasKey(row) || this.#slots[this.#slotOf(row)] === row + 1;
  }

  /**
   * The last failures of the rollouts that a running collection runs again. Its progress contains only numbers:
   * `failed` rollouts are lost, `before` of them in earlier sessions. `attempts` is the number of failed attempts in
   * this session, which are the last rows of the failures file.
   */
  retried({ failed, before, attempts }: FailedRollouts): ReadonlySet<RowCode> {
    const { columns } = this.#files.failures;
    const start = Math.max(0, columns.length - attempts);
    const tries = this.#triesUntil(start);
    const earlier: number[] = [];
    const session: number[] = [];
    for (let row = 0; row < columns.length; row++)
      if (this.isLostBy(-row - 1)) (row < start ? earlier : session).push(row);
    // A limit on attempts divides each list: the rollouts with most attempts are lost.
    const standing = (row: number) => tries.get(this.#slotOf(this.#rollouts + row)) ?? 0;
    earlier.sort((a, b) => standing(b) - standing(a));
    const given = (row: number) => (columns.isFinal(row) ? Number.MAX_VALUE : columns.attempt(row));
    session.sort((a, b) => given(b) - given(a));
    const lostInSession = Math.min(session.length, failed - before);
    const again = [...session.slice(lostInSession), ...earlier.slice(failed - lostInSession)];
    return new Set(again.map((row) => -row - 1));
  }

  /** The failed attempts of each rollout that a resumed run counts, by slot, as in `planResume`. */
  #triesUntil(end: number): Map<number, number> {
    const { columns } = this.#files.failures;
    const tries = new Map<number, number>();
    for (let row = 0; row < end; row++) {
      if (!this.#hasKey(this.#rollouts + row) || isInfrastructureFailure(columns.failure(row))) continue;
      const slot = this.#slotOf(this.#rollouts + row);
      tries.set(slot, (tries.get(slot) ?? 0) + (columns.isTerminal(row) ? Number.MAX_VALUE : 1));
    }
    return tries;
  }

  #numberOf(code: RowCode): number {
    return isFailureRow(code) ? this.#rollouts + rowOf(code) : code;
  }

  #add(row: number): void {
    const state = this.#stateOf(row);
    if (state === undefined) return;
    // Rows without indices count as separate rollouts.
    const slot = this.#hasKey(row) ? this.#slotOf(row) : undefined;
    const known = slot === undefined ? 0 : (this.#slots[slot] ?? 0);
    const before = known === 0 ? 0 : (this.#stateOf(known - 1) ?? 0);
    if (state < before || (state === before && state !== FAILED)) return;
    if (slot !== undefined) this.#slots[slot] = row + 1;
    this.#counts[before] = (this.#counts[before] ?? 0) - 1;
    this.#counts[state] = (this.#counts[state] ?? 0) + 1;
  }

  /** Undefined for a line that is not a row. */
  #stateOf(row: number): number | undefined {
    const { columns, place } = this.#placeOf(row);
    if (!columns.isReadable(place)) return undefined;
    if (row >= this.#rollouts || columns.failed(place)) return FAILED;
    return columns.masked(place) ? MASKED : COMPLETED;
  }

  #placeOf(row: number) {
    const { rollouts, failures } = this.#files;
    return row < this.#rollouts
      ? { columns: rollouts.columns, place: row }
      : { columns: failures.columns, place: row - this.#rollouts };
  }

  #hasKey(row: number): boolean {
    const { columns, place } = this.#placeOf(row);
    return !Number.isNaN(columns.task(place)) && !Number.isNaN(columns.rollout(place));
  }

  /** The slot of the rollout of a row, or the free slot for it. */
  #slotOf(row: number): number {
    const { columns, place } = this.#placeOf(row);
    const [task, rollout] = [columns.task(place), columns.rollout(place)];
    const mask = this.#slots.length - 1;
    for (let slot = hashOfRollout(task, rollout) & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot] ?? 0;
      if (known === 0) return slot;
      const other = this.#placeOf(known - 1);
      if (other.columns.task(other.place) === task && other.columns.rollout(other.place) === rollout)
        return slot;
    }
  }
}
