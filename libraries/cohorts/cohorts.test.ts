import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cohorts } from "./cohorts.ts";

const live = () => new AbortController().signal;

function createCohorts(overrides = {}) {
  const groups: string[][] = [];
  const cohorts = new Cohorts<string, string>({
    size: 2,
    collectionTimeoutMs: 1000,
    outcomeTtlMs: 1000,
    maxOutcomes: 1,
    evaluate: async (members) => {
      groups.push(members);
      return members.map((member) => `${member}!`);
    },
    ...overrides,
  });
  return { cohorts, groups };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("Cohorts", () => {
  it("scores the members in the order of their slots when the last one arrives", async () => {
    const { cohorts, groups } = createCohorts();
    const second = cohorts.join({ key: "k", slot: 1, content: "b" }, "b", live());
    expect(groups).toEqual([]);
    const first = cohorts.join({ key: "k", slot: 0, content: "a" }, "a", live());
    expect(await Promise.all([first, second])).toEqual(["a!", "b!"]);
    expect(groups).toEqual([["a", "b"]]);
  });

  it("takes the order of arrival without slots, and starts a new cohort after a complete one", async () => {
    const { cohorts, groups } = createCohorts();
    const joined = ["a", "b", "c", "d"].map((member) => cohorts.join({ key: "k" }, member, live()));
    await Promise.all(joined);
    expect(groups).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });

  it("fails an incomplete cohort after the time limit", async () => {
    const { cohorts } = createCohorts();
    const lonely = cohorts.join({ key: "k", slot: 0 }, "a", live());
    const failure = expect(lonely).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("1 of 2"),
    });
    await vi.advanceTimersByTimeAsync(1000);
    await failure;
  });

  it("frees the slot of a caller that is gone", async () => {
    const { cohorts, groups } = createCohorts();
    const caller = new AbortController();
    const gone = cohorts.join({ key: "k", slot: 0, content: "a" }, "a", caller.signal);
    caller.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    const again = cohorts.join({ key: "k", slot: 0, content: "other" }, "other", live());
    await cohorts.join({ key: "k", slot: 1, content: "b" }, "b", live());
    expect(await again).toBe("other!");
    expect(groups).toEqual([["other", "b"]]);
  });

  it("keeps outcomes for a limited time and number", async () => {
    const { cohorts, groups } = createCohorts();
    const fill = (key: string) =>
      Promise.all(
        [0, 1].map((slot) => cohorts.join({ key, slot, content: `${slot}`, keep: true }, "m", live())),
      );
    await fill("k");
    await fill("k");
    expect(groups).toHaveLength(1);
    await fill("other");
    await fill("k");
    expect(groups).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1001);
    await fill("k");
    expect(groups).toHaveLength(4);
  });

  it("gives a failed evaluation to every member", async () => {
    const { cohorts } = createCohorts({ evaluate: () => Promise.reject(new Error("no judge")) });
    const joined = [0, 1].map((slot) => cohorts.join({ key: "k", slot }, "m", live()));
    for (const each of joined) await expect(each).rejects.toThrow("no judge");
  });

  it("fails waiting members when it closes", async () => {
    const { cohorts } = createCohorts();
    const waiting = cohorts.join({ key: "k", slot: 0 }, "a", live());
    cohorts.close();
    await expect(waiting).rejects.toMatchObject({ status: 503 });
  });
});
