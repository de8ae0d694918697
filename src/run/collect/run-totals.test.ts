import { describe, expect, it } from "vitest";
import { CoverageCounter } from "../../records/metrics/coverage.ts";
import { RunTotals } from "./run-totals.ts";

const row = (task: number, more: object = {}) => ({
  _ng_task_index: task,
  _ng_rollout_index: 0,
  agent_ref: { name: "ada" },
  reward: 1,
  response: { output: [], usage: { total_tokens: 3 } },
  ...more,
});

describe("RunTotals", () => {
  it("counts unwritten rows with the values of their JSON lines", () => {
    const odd = { score: Number.NaN, nothing: undefined, at: new Date(0), mask_sample: Number.NaN };
    const live = new RunTotals(new CoverageCounter(3), 3);
    const read = new RunTotals(new CoverageCounter(3));
    for (const task of [0, 1]) {
      live.addUnwritten(row(task, odd));
      read.add(JSON.parse(JSON.stringify(row(task, odd))) as Record<string, unknown>);
    }
    expect(live.byAgent.get("ada")?.entries).toEqual(read.byAgent.get("ada")?.entries);
    expect(live.byAgent.get("ada")?.masked.size).toBe(0);
    expect(live.coverage.result()).toEqual({ expected: 3, ok: 2, masked: 0, failed: 0, missing: 1 });
  });

  it("keeps no entries while a long run goes on, and reports that they must be read from the file", () => {
    const totals = new RunTotals(new CoverageCounter(), 20_000);
    expect(totals.lacksEntries).toBe(false);
    totals.addUnwritten(row(0));
    expect(totals.byAgent.get("ada")?.entries).toBeUndefined();
    expect(totals.byAgent.get("ada")?.table.size).toBe(1);
    expect(totals.lacksEntries).toBe(true);
  });
});
