import { afterEach, describe, expect, it, vi } from "vitest";
import { Deadline } from "./deadline.ts";

it("fires when time is up", async () => {
  const deadline = new Deadline(5);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  expect(deadline.passed).toBe(true);
  deadline.clear();
});

it("fires with its parent and says that it was not time", () => {
  const parent = new AbortController();
  const deadline = new Deadline(60_000, parent.signal);
  parent.abort(new Error("stop"));
  expect(deadline.signal.reason).toEqual(new Error("stop"));
  expect(deadline.passed).toBe(false);
  deadline.clear();
  expect(new Deadline(60_000, parent.signal).signal.aborted).toBe(true);
});

it("does nothing once it is cleared", () => {
  const parent = new AbortController();
  const deadline = new Deadline(60_000, parent.signal);
  deadline.clear();
  parent.abort();
  expect(deadline.signal.aborted).toBe(false);
});

describe("with the timers of a test", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("fires when only the timers are replaced and the clock goes on", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const deadline = new Deadline(1_000);
    vi.advanceTimersByTime(1_001);
    expect(deadline.passed).toBe(true);
  });

  it("does not depend on one that waits for other timers", async () => {
    const real = new Deadline(70);
    vi.useFakeTimers();
    const replaced = new Deadline(70);
    vi.advanceTimersByTime(100);
    expect(replaced.passed).toBe(true);
    new Deadline(70);
    vi.useRealTimers();
    const later = new Deadline(70);
    await expect.poll(() => [real.passed, later.passed]).toEqual([true, true]);
  });
});
