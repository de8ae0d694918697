import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Semaphore } from "./semaphore.ts";

describe("Semaphore", () => {
  it("never runs more than its limit and keeps the order", async () => {
    const semaphore = new Semaphore(2);
    let running = 0;
    let peak = 0;
    const started: number[] = [];
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        semaphore.run(async () => {
          started.push(index);
          peak = Math.max(peak, ++running);
          await sleep(1);
          running--;
        }),
      ),
    );
    expect(peak).toBe(2);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("frees the slot of a task that throws", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(semaphore.run(async () => 1)).resolves.toBe(1);
  });

  it("does not lose the slot of a waiter that aborts", async () => {
    const semaphore = new Semaphore(1);
    const controller = new AbortController();
    let release = () => {};
    const first = semaphore.run(() => new Promise<void>((resolve) => (release = resolve)));
    const second = semaphore.run(async () => "ran", controller.signal);
    const third = semaphore.run(async () => "third");
    controller.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    release();
    await first;
    await expect(third).resolves.toBe("third");
  });

  it("has no limit with null", async () => {
    const semaphore = new Semaphore(null);
    await expect(semaphore.run(async () => 1)).resolves.toBe(1);
    expect(() => new Semaphore(0)).toThrow(RangeError);
  });

  it("alternates between the keys of waiting tasks", async () => {
    const semaphore = new Semaphore(1);
    const order: string[] = [];
    let running = 0;
    const task = (key: string, name: string) =>
      semaphore.run(
        async () => {
          running++;
          expect(running).toBe(1);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(name);
          running--;
        },
        undefined,
        key,
      );
    await Promise.all([
      ...["a1", "a2", "a3", "a4"].map((name) => task("a", name)),
      task("b", "b1"),
      task("c", "c1"),
      task("b", "b2"),
    ]);
    expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("skips a key whose tasks aborted, and continues after a failure", async () => {
    const semaphore = new Semaphore(1);
    const controller = new AbortController();
    const fails = () => new Promise<never>((_, reject) => setTimeout(reject, 20, new Error("failed")));
    const first = semaphore.run(fails, undefined, "a");
    const waiting = semaphore.run(async () => "never", controller.signal, "a");
    const last = semaphore.run(async () => "ran", undefined, "b");
    controller.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(first).rejects.toThrow("failed");
    await expect(last).resolves.toBe("ran");
    await expect(semaphore.run(async () => "free", undefined, "a")).resolves.toBe("free");
  });

  it("applies a changed limit", async () => {
    const semaphore = new Semaphore(3);
    const releases: (() => void)[] = [];
    const task = () => new Promise<void>((resolve) => releases.push(resolve));
    const all = Array.from({ length: 6 }, () => semaphore.run(task));
    semaphore.resize(1);
    for (const release of releases.splice(0, 2)) release();
    await sleep(1);
    // Only the third task still runs.
    expect(releases).toHaveLength(1);
    semaphore.resize(4);
    await sleep(1);
    expect(releases).toHaveLength(4);
    for (const release of releases) release();
    await Promise.all(all);
    expect(() => semaphore.resize(0)).toThrow("at least 1");
  });
});
