import { expect, it } from "vitest";
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
