import { isTruthy } from "../../base/python/door.ts";
import { RolloutKeyMap } from "./rollout-key-map.ts";
import { type RolloutIndices, type Row, rowIndices } from "./rollout-row.ts";

/** How many rollouts of a run its metrics cover. */
export interface Coverage {
  /** Requested rollouts. */
  expected: number;
  /** Completed, and not masked. */
  ok: number;
  /** Completed, but marked to be excluded from training. */
  masked: number;
  /** Attempted and failed, never completed. */
  failed: number;
  /** Neither completed nor failed. */
  missing: number;
}

const EXPECTED = 0;
const FAILED = 1;
const MASKED = 2;
const OK = 3;

/** Counts the states of the rollouts of a run, about twenty bytes each. */
export class CoverageCounter {
  private readonly states = new RolloutKeyMap();
  private readonly expected: number;

  /** `expected` is the number of requested rollouts, if no file lists them. */
  constructor(expected = 0) {
    this.expected = expected;
  }

  expect(rollout: RolloutIndices): void {
    this.raise(rollout, EXPECTED);
  }

  complete(row: Row): void {
    this.raise(rowIndices(row), isTruthy(row["mask_sample"]) ? MASKED : OK);
  }

  fail(row: Row): void {
    this.raise(rowIndices(row), FAILED);
  }

  /** A rollout that failed and later completed is complete; one that was not expected is counted as expected. */
  private raise({ taskIndex, rolloutIndex }: RolloutIndices, state: number): void {
    const known = this.states.get(taskIndex, rolloutIndex) ?? EXPECTED;
    this.states.set(taskIndex, rolloutIndex, Math.max(known, state));
  }

  result(): Coverage {
    const counts = [0, 0, 0, 0];
    for (const [, , state] of this.states.entries()) counts[state] = (counts[state] ?? 0) + 1;
    const [, failed = 0, masked = 0, ok = 0] = counts;
    const expected = Math.max(this.expected, this.states.size);
    return { expected, ok, masked, failed, missing: expected - ok - masked - failed };
  }
}
