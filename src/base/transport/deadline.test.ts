import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Deadline, sleep } from "./deadline.ts";

it("fires after its time limit", async () => {
  const deadline = new Deadline(5);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  expect(deadline.passed).toBe(true);
  deadline.clear();
});

it("fires with its parent and has not passed", () => {
  const parent = new AbortController();
  const deadline = new Deadline(60_000, parent.signal);
  parent.abort(new Error("stop"));
  expect(deadline.signal.reason).toEqual(new Error("stop"));
  expect(deadline.passed).toBe(false);
  deadline.clear();
  expect(new Deadline(60_000, parent.signal).signal.aborted).toBe(true);
});

it("does nothing after it is cleared", () => {
  const parent = new AbortController();
  const deadline = new Deadline(60_000, parent.signal);
  deadline.clear();
  parent.abort();
  expect(deadline.signal.aborted).toBe(false);
});

it("never expires when it is longer than the longest timer", async () => {
  const deadline = new Deadline(2 ** 40);
  await sleep(20);
  expect(deadline.signal.aborted).toBe(false);
});

describe("sleep", () => {
  it("ends early with the reason of the signal", async () => {
    const controller = new AbortController();
    const sleeping = sleep(60_000, controller.signal);
    controller.abort(new Error("stop"));
    await expect(sleeping).rejects.toThrow("stop");
    await expect(sleep(1, controller.signal)).rejects.toThrow("stop");
  });

  it("leaves no listener behind", async () => {
    const { signal } = new AbortController();
    await sleep(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
