import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { CallLimit, Slot } from "../adaptive-limit.ts";
import { CostMeter, RUN_METER } from "../cost.ts";
import { forgetEndpoints, localBreaker, localLimit } from "../endpoint.ts";
import { ProviderError } from "../provider-error.ts";
import { Coordinator } from "./coordinator.ts";
import { fairParts } from "./limit-shares.ts";
import { RunConnection } from "./run-connection.ts";

const KEY = "http://endpoint/v1 m account";
const never = Number.POSITIVE_INFINITY;
const failure = new ProviderError({ class: "connection", retryable: true, message: "no connection" });

beforeEach(forgetEndpoints);

async function run(processes: number, globalConfig: Record<string, unknown> = {}) {
  const coordinator = await Coordinator.listen(globalConfig);
  onTestFinished(() => coordinator.close());
  const connections: RunConnection[] = [];
  for (let index = 0; index < processes; index++) {
    const connection = await RunConnection.open(coordinator.socketPath);
    if (!connection) throw new Error("no connection");
    connections.push(connection);
    onTestFinished(() => connection.close());
  }
  return { coordinator, connections };
}

async function limitsOf(connections: readonly RunConnection[]): Promise<CallLimit[]> {
  const limits = connections.map((connection) => connection.limit(KEY));
  await Promise.all(limits.map(({ joined }) => joined));
  return limits;
}

async function enter(limit: CallLimit): Promise<Slot> {
  const slot = await limit.enter(undefined, never);
  if (!slot) throw new Error("gave up");
  return slot;
}

/** Lets messages arrive. */
const settle = () => sleep(120);

describe("a limit shared by processes", () => {
  it("lets each begin many calls without asking, and gives whoever needs more what others leave", async () => {
    const { connections } = await run(4);
    const limits = await limitsOf(connections);
    for (const limit of limits) expect(limit.tryEnter()).toBeDefined();
    const [busy] = limits;
    if (!busy) throw new Error("no limit");
    const slots = await Promise.all(Array.from({ length: 3_000 }, () => enter(busy)));
    expect(slots).toHaveLength(3_000);
    await settle();
    expect(localLimit(KEY).running).toBe(3_004);
  });

  it("halves for all when one is refused, and lets one call of all ask whether it is over", async () => {
    const { connections } = await run(3);
    const limits = await limitsOf(connections);
    const slots = limits.map((limit) => Array.from({ length: 20 }, () => limit.tryEnter()));
    await settle();
    for (const [index, limit] of limits.entries())
      for (const slot of slots[index] ?? [])
        if (slot) limit.leave(slot, { kind: "rate-limited", pauseMs: undefined });
    await settle();
    expect(localLimit(KEY).limit).toBe(30);
    let asked = 0;
    let over = false;
    let most = 0;
    let running = 0;
    const call = async (limit: CallLimit) => {
      for (;;) {
        const slot = await enter(limit);
        if (!over) asked++;
        most = Math.max(most, ++running);
        await sleep(5);
        running--;
        if (over) {
          limit.leave(slot, { kind: "success", outputTokens: null });
          return;
        }
        limit.leave(slot, { kind: "rate-limited", pauseMs: undefined });
      }
    };
    const calls = limits.flatMap((limit) => Array.from({ length: 20 }, () => call(limit)));
    await sleep(2_500);
    // The pause is random: on a busy machine the first of them may still be waiting.
    while (asked === 0) await sleep(10);
    expect(asked).toBeLessThanOrEqual(4);
    expect(most).toBe(1);
    over = true;
    await Promise.all(calls);
    expect(most).toBeLessThanOrEqual(60);
    await settle();
    expect(localLimit(KEY).running).toBe(0);
  }, 120_000);

  it("is never exceeded, however calls come and go, and serves everybody", async () => {
    const { connections } = await run(3);
    const limits: CallLimit[] = [...(await limitsOf(connections)), localLimit(KEY)];
    const refused = limits.map((limit) => Array.from({ length: 6 }, () => limit.tryEnter()));
    await settle();
    for (const [index, limit] of limits.entries())
      for (const slot of refused[index] ?? [])
        if (slot) limit.leave(slot, { kind: "rate-limited", pauseMs: 0 });
    let running = 0;
    const over: number[] = [];
    const done = limits.map(() => 0);
    const worker = async (index: number) => {
      for (let round = 0; round < 10; round++) {
        const limit = limits[index] as CallLimit;
        const slot = await enter(limit);
        running++;
        if (running > localLimit(KEY).limit + 1) over.push(running);
        await sleep(1 + Math.random() * 4);
        running--;
        limit.leave(slot, { kind: "success", outputTokens: 1 });
        done[index] = (done[index] ?? 0) + 1;
      }
    };
    await Promise.all(limits.flatMap((_, index) => Array.from({ length: 12 }, () => worker(index))));
    expect(over).toEqual([]);
    expect(done).toEqual([120, 120, 120, 120]);
  }, 30_000);

  it("frees what a process held that is gone", async () => {
    const { connections } = await run(2);
    const [one, other] = await limitsOf(connections);
    for (let index = 0; index < 100; index++) one?.tryEnter();
    await settle();
    expect(localLimit(KEY).running).toBe(100);
    connections[0]?.close();
    await settle();
    expect(localLimit(KEY).running).toBe(0);
    expect(other?.tryEnter()).toBeDefined();
  });

  it("goes on in every process when the coordinator is gone", async () => {
    const { coordinator, connections } = await run(2);
    const [limit] = await limitsOf(connections);
    if (!limit) throw new Error("no limit");
    const slot = limit.tryEnter();
    if (!slot) throw new Error("no place");
    limit.leave(slot, { kind: "rate-limited", pauseMs: 60_000 });
    await settle();
    const waiting = enter(limit);
    coordinator.close();
    expect(await waiting).toBeDefined();
    expect(connections[0]?.isOpen).toBe(false);
  });

  it("does not wait longer for the end of a pause than a caller wants", async () => {
    const { connections } = await run(2);
    const [one, other] = await limitsOf(connections);
    const slot = one?.tryEnter();
    const early = other?.enter(undefined, never, 5_000);
    expect(await early).toBeDefined();
    if (slot) one?.leave(slot, { kind: "rate-limited", pauseMs: 60_000, failure });
    await settle();
    expect(await other?.enter(undefined, never, 5_000)).toBeUndefined();
    expect(other?.lastRefusal?.message).toBe("no connection");
  });
});

describe("a breaker shared by processes", () => {
  const patient = { giveUpAt: never, longestOutageMs: never };

  it("opens for all by failures of all, and one of all tries", async () => {
    const { connections } = await run(2);
    const events: string[] = [];
    const breakers = connections.map((connection, index) =>
      connection.breaker("http://endpoint", {
        opened: () => events.push(`opened ${index}`),
        closed: () => events.push(`closed ${index}`),
      }),
    );
    for (let index = 0; index < 4; index++)
      for (const breaker of breakers) breaker.failed({ probe: false }, failure);
    await settle();
    expect(breakers.map(({ isOpen }) => isOpen)).toEqual([true, true]);
    expect(localBreaker("http://endpoint").isOpen).toBe(true);
    const passes = breakers.flatMap((breaker) => [breaker.pass(patient), breaker.pass(patient)]);
    const first = await Promise.race(
      passes.map(async (pass, index) => ({ pass: await pass, breaker: breakers[index >> 1] })),
    );
    expect(first.pass).toEqual({ probe: true });
    first.breaker?.succeeded();
    const all = await Promise.all(passes);
    expect(all.filter((pass) => pass?.probe)).toHaveLength(1);
    expect(breakers.map(({ isOpen }) => isOpen)).toEqual([false, false]);
    expect(events).toHaveLength(2);
  });

  it("lets another try when the one that tries is gone", async () => {
    const { connections } = await run(2);
    const [one, other] = connections.map((connection) => connection.breaker("http://endpoint", {}));
    for (let index = 0; index < 8; index++) one?.failed({ probe: false }, failure);
    await settle();
    expect((await one?.pass(patient))?.probe).toBe(true);
    const waiting = other?.pass(patient);
    await settle();
    connections[0]?.close();
    expect((await waiting)?.probe).toBe(true);
  });

  it("counts no failure that a success of another process has followed", async () => {
    const { connections } = await run(2);
    const [one, other] = connections.map((connection) => connection.breaker("http://endpoint", {}));
    for (let index = 0; index < 7; index++) one?.failed({ probe: false }, failure);
    await settle();
    other?.succeeded();
    await settle();
    for (let index = 0; index < 7; index++) one?.failed({ probe: false }, failure);
    await settle();
    expect(one?.isOpen).toBe(false);
  });
});

it("a budget is that of all processes together", async () => {
  const { connections } = await run(2, { max_cost: 1 });
  const meters = connections.map((connection) => {
    const meter = new CostMeter(1, "the run (max_cost)");
    connection.share(RUN_METER, meter);
    return meter;
  });
  const [one, other] = meters;
  one?.add(0.3);
  other?.add(0.3);
  await settle();
  expect(one?.spent).toBeCloseTo(0.6);
  one?.check();
  other?.add(0.5);
  await settle();
  expect(() => one?.check()).toThrow("the budget of the run (max_cost) is spent: $1.1000 of $1");
});

it("divides places by need", () => {
  expect(fairParts([10, 10, 10], 12)).toEqual([4, 4, 4]);
  expect(fairParts([2, 10, 10], 12)).toEqual([2, 5, 5]);
  expect(fairParts([0, 0, 3], 12)).toEqual([3, 3, 6]);
  expect(fairParts([5, 5], 0)).toEqual([0, 0]);
  expect(fairParts([9, 9], 3)).toEqual([2, 1]);
});
