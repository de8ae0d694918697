import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LimitChain, type Limited, limitTime, unlimitTime } from "./time-limits.ts";

class Guest implements Limited {
  dueAt = 0;
  chain: LimitChain | undefined;
  before: Limited | undefined;
  after: Limited | undefined;
  readonly #onTime: () => void;

  constructor(onTime: () => void) {
    this.#onTime = onTime;
  }

  timeIsUp(): void {
    this.#onTime();
  }
}

describe("time limits", () => {
  const told: string[] = [];
  const guest = (name: string) => new Guest(() => told.push(name));

  beforeEach(() => {
    told.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("tells each when its own time is up, and needs one timer for those with the same limit", () => {
    limitTime(guest("first"), 100);
    vi.advanceTimersByTime(40);
    limitTime(guest("second"), 100);
    limitTime(guest("short"), 10);
    expect(vi.getTimerCount()).toBe(2);
    vi.advanceTimersByTime(59);
    expect(told).toEqual(["short"]);
    vi.advanceTimersByTime(2);
    expect(told).toEqual(["short", "first"]);
    vi.advanceTimersByTime(40);
    expect(told).toEqual(["short", "first", "second"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("forgets who leaves, wherever it stands, and holds no timer for nobody", () => {
    const guests = ["a", "b", "c", "d"].map(guest);
    for (const each of guests) limitTime(each, 50);
    for (const index of [1, 0, 3]) unlimitTime(guests[index] as Guest);
    unlimitTime(guests[1] as Guest);
    vi.advanceTimersByTime(60);
    expect(told).toEqual(["c"]);
    const last = guest("last");
    limitTime(last, 50);
    unlimitTime(last);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("goes on when one of them throws, and takes those who come while it tells", () => {
    limitTime(
      new Guest(() => {
        limitTime(guest("later"), 50);
        throw new Error("it broke");
      }),
      50,
    );
    limitTime(guest("next"), 50);
    expect(() => vi.advanceTimersByTime(50)).toThrow("it broke");
    vi.advanceTimersByTime(5);
    expect(told).toEqual(["next"]);
    vi.advanceTimersByTime(60);
    expect(told).toEqual(["next", "later"]);
  });

  it("takes limits no timer can have: longer than the longest, and none at all", () => {
    limitTime(guest("month"), 30 * 24 * 3_600_000);
    limitTime(guest("never"), Number.POSITIVE_INFINITY);
    limitTime(guest("at once"), Number.NaN);
    limitTime(guest("before"), -5);
    vi.advanceTimersByTime(2);
    expect(told).toEqual(["at once", "before"]);
    vi.advanceTimersByTime(29 * 24 * 3_600_000);
    expect(told).toHaveLength(2);
    vi.advanceTimersByTime(25 * 3_600_000);
    expect(told).toEqual(["at once", "before", "month"]);
  });
});
