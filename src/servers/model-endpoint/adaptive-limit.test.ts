import { expect, it, vi } from "vitest";
import { seededRandom } from "../../wire/sample-schema.ts";
import { AdaptiveLimit, MOST_CONCURRENT, type Slot } from "./adaptive-limit.ts";

const never = Number.POSITIVE_INFINITY;

function limit() {
  const clock = { now: 1_000_000 };
  return {
    clock,
    limit: new AdaptiveLimit(
      undefined,
      () => 1,
      () => clock.now,
    ),
  };
}

async function enterMany(made: AdaptiveLimit, count: number): Promise<Slot[]> {
  const slots = await Promise.all(Array.from({ length: count }, () => made.enter(undefined, never)));
  return slots.filter((slot) => slot !== undefined);
}

it("starts open, so that a thousand calls start at once", async () => {
  const { limit: made } = limit();
  expect(await enterMany(made, 1_000)).toHaveLength(1_000);
  expect(made.running).toBe(1_000);
});

it("halves once for concurrent refusals, and sends one call at a time until one succeeds", async () => {
  vi.useFakeTimers();
  try {
    const { limit: made, clock } = limit();
    const slots = await enterMany(made, 64);
    clock.now += 100;
    for (const slot of slots) made.leave(slot, { kind: "rate-limited", pauseMs: undefined });
    expect(made.limit).toBe(32);
    const started: Slot[] = [];
    const waiting = Array.from({ length: 64 }, () =>
      made.enter(undefined, never).then((slot) => slot && started.push(slot)),
    );
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(0);
    const round = async () => {
      clock.now += 30_000;
      await vi.advanceTimersByTimeAsync(30_000);
    };
    for (let probes = 1; probes <= 5; probes++) {
      await round();
      expect(started).toHaveLength(probes);
      made.leave(started[probes - 1] as Slot, { kind: "rate-limited", pauseMs: undefined });
    }
    expect(made.limit).toBe(32);
    await round();
    made.leave(started[5] as Slot, { kind: "success", outputTokens: null });
    await vi.advanceTimersByTimeAsync(0);
    expect(started.length).toBe(6 + made.limit);
    for (let index = 6; index < 64; index++) {
      made.leave(started[index] as Slot, { kind: "success", outputTokens: null });
      await vi.advanceTimersByTimeAsync(0);
    }
    await Promise.all(waiting);
    expect(made.running).toBe(0);
    expect(made.limit).toBeGreaterThan(32);
  } finally {
    vi.useRealTimers();
  }
});

it("waits for the time that the endpoint requests", async () => {
  vi.useFakeTimers();
  try {
    const { limit: made, clock } = limit();
    const [slot] = await enterMany(made, 1);
    made.leave(slot as Slot, { kind: "rate-limited", pauseMs: 20_000 });
    let entered = false;
    void made.enter(undefined, never).then(() => {
      entered = true;
    });
    clock.now += 19_000;
    await vi.advanceTimersByTimeAsync(19_000);
    expect(entered).toBe(false);
    clock.now += 2_000;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(entered).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it("wakes all waiters when a pause ends between two readings of the clock", async () => {
  vi.useFakeTimers();
  try {
    const forgotten: number[] = [];
    // The pause takes 500 ms. The timer may fire slightly early by this clock, which advances with every read.
    for (let early = 0; early < 12; early++) {
      const clock = { now: 1_000_000 };
      const made = new AdaptiveLimit(
        undefined,
        () => 1,
        () => (clock.now += 0.25),
      );
      const slot = made.tryEnter();
      made.leave(slot as Slot, { kind: "rate-limited", pauseMs: undefined });
      let entered = false;
      void made.enter(undefined, never).then(() => {
        entered = true;
      });
      clock.now = 1_000_500 - early * 0.25;
      await vi.advanceTimersByTimeAsync(1_000);
      if (!entered) forgotten.push(early);
    }
    expect(forgotten).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

it("decreases when answers become slow without higher throughput", async () => {
  const { limit: made, clock } = limit();
  const window = async (milliseconds: number) => {
    const slots = await enterMany(made, Math.min(64, made.limit));
    clock.now += milliseconds;
    for (const slot of slots) made.leave(slot, { kind: "success", outputTokens: 100 });
  };
  for (let index = 0; index < 4; index++) await window(2_000);
  expect(made.limit).toBe(MOST_CONCURRENT);
  await window(20_000);
  await window(20_000);
  expect(made.limit).toBeLessThan(64);
  expect(made.limit).toBeGreaterThanOrEqual(4);
});

it("keeps its value for slow answers with higher throughput", async () => {
  const { limit: made, clock } = limit();
  for (const [calls, milliseconds] of [
    [32, 2_000],
    [512, 8_000],
    [512, 8_000],
  ] as const) {
    const slots = await enterMany(made, calls);
    clock.now += milliseconds;
    for (const slot of slots) made.leave(slot, { kind: "success", outputTokens: 100 });
  }
  expect(made.limit).toBe(MOST_CONCURRENT);
});

it("serves waiters in order, and forgets aborted ones", async () => {
  const { limit: made, clock } = limit();
  const slots = await enterMany(made, 4);
  clock.now += 1;
  for (const slot of slots.slice(0, 3)) made.leave(slot, { kind: "other" });
  const [a, b] = await enterMany(made, 2);
  clock.now += 1;
  made.leave(a as Slot, { kind: "rate-limited", pauseMs: undefined });
  const controller = new AbortController();
  const order: number[] = [];
  const gone = made.enter(controller.signal, never).catch(() => order.push(-1));
  const first = made.enter(undefined, never).then(() => order.push(1));
  controller.abort(new Error("gone"));
  await gone;
  clock.now += 60_000;
  made.leave(b as Slot, { kind: "success", outputTokens: null });
  made.leave(slots[3] as Slot, { kind: "success", outputTokens: null });
  await first;
  expect(order).toEqual([-1, 1]);
  while (made.running < made.limit) await made.enter(undefined, never);
  expect(await made.enter(undefined, clock.now - 1)).toBeUndefined();
});

/** Callers that keep calling an endpoint with a response time of one second for a minute of fake time. */
async function simulate(callers: number, rejects: (running: number) => boolean) {
  vi.useFakeTimers();
  try {
    const limit = new AdaptiveLimit(undefined, seededRandom(1), () => Date.now());
    const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const until = Date.now() + 60_000;
    const counts = { succeeded: 0, rejected: 0 };
    const caller = async () => {
      while (Date.now() < until) {
        const slot = await limit.enter(undefined, until);
        if (!slot) return;
        if (rejects(limit.running)) {
          await sleep(20);
          counts.rejected++;
          limit.leave(slot, { kind: "rate-limited", pauseMs: undefined });
          await sleep(1_000);
        } else {
          await sleep(1_000);
          counts.succeeded++;
          limit.leave(slot, { kind: "success", outputTokens: 100 });
        }
      }
    };
    const all = Promise.all(Array.from({ length: callers }, caller));
    await vi.advanceTimersByTimeAsync(65_000);
    await all;
    return { limit: limit.limit, perSecond: counts.succeeded / 60, ...counts };
  } finally {
    vi.useRealTimers();
  }
}

it("keeps its concurrency when 3 % of all calls are rejected at random", async () => {
  const random = seededRandom(7);
  const { limit, perSecond } = await simulate(100, () => random() < 0.03);
  expect(limit).toBeGreaterThan(75);
  expect(perSecond).toBeGreaterThan(0.8 * 100);
});

it("finds the capacity of an endpoint that rejects calls above it", async () => {
  const { limit, perSecond, rejected, succeeded } = await simulate(120, (running) => running > 40);
  expect(limit).toBeLessThan(60);
  expect(perSecond).toBeGreaterThan(0.7 * 40);
  expect(rejected / (rejected + succeeded)).toBeLessThan(0.2);
});

it("applies the slow-down of another process, once for concurrent refusals", async () => {
  const { limit: made, clock } = limit();
  const reported: number[] = [];
  made.onSlowDown = ({ factor }) => reported.push(factor);
  const slots = await enterMany(made, 40);
  for (let worker = 0; worker < 5; worker++) made.slowDown({ pauseMs: 2_000 + worker, factor: 0.5 });
  expect(made.limit).toBe(20);
  expect(made.tryEnter()).toBeUndefined();
  // Calls that were running when the limit changed report the same refusal again.
  clock.now += 10;
  for (const slot of slots) made.leave(slot, { kind: "rate-limited", pauseMs: undefined });
  expect(made.limit).toBe(20);
  expect(reported).toEqual([]);
  clock.now += 1_993;
  expect(made.tryEnter()).toBeUndefined();
  clock.now += 1;
  // One call probes whether the pause is over.
  const probe = made.tryEnter();
  expect(made.tryEnter()).toBeUndefined();
  if (probe) made.leave(probe, { kind: "success", outputTokens: null });
  expect(made.tryEnter()).toBeDefined();
});
