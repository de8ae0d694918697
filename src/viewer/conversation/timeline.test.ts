import { describe, expect, it } from "vitest";
import { callOwners, invocationsOf } from "./invocations.ts";
import { timelineOf } from "./timeline.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const shown = (row: Parameters<typeof timelineOf>[0]) =>
  timelineOf(row).map(({ kind, name, from, to }) => [kind, name, from, to]);

describe("timelineOf", () => {
  it("has spans for the verifier, seeding and waiting for the endpoint", () => {
    const row = {
      _ng_timing: {
        started_at: at(100),
        seconds: 5,
        seed: { at: 0, seconds: 0.5 },
        verify: { at: 4, seconds: 1 },
      },
      ng_trajectory: {
        model_calls: [
          {
            started_at: 100.5,
            completed_at: 103,
            response: { model: "m", usage: { ng_waited_ms: 1500 } },
          },
        ],
        tool_calls: [{ tool_name: "verify_email", started_at: 103, completed_at: 103.5 }],
      },
    };
    expect(shown(row)).toEqual([
      ["seed", "seed session", 0, 0.5],
      ["waiting", "m", 0.5, 2],
      ["model", "m", 2, 3],
      ["tool", "verify_email", 3, 3.5],
      ["other", "other", 3.5, 4],
      ["verifier", "verify", 4, 5],
    ]);
  });

  it("has the spans of the collector without observability", () => {
    const timing = {
      started_at: at(7),
      seconds: 3,
      seed: { at: 0, seconds: 1 },
      verify: { at: 2, seconds: 1 },
    };
    expect(shown({ _ng_timing: timing })).toEqual([
      ["seed", "seed session", 0, 1],
      ["other", "agent", 1, 2],
      ["verifier", "verify", 2, 3],
    ]);
    expect(shown({ _ng_timing: { started_at: at(7), seconds: 3 } })).toEqual([]);
    expect(shown({ _ng_timing: { started_at: "then", verify: { at: 2, seconds: 1 } } })).toEqual([]);
  });
});

describe("invocationsOf", () => {
  const invocation = (id: string, parent: string | null, more: object = {}) => ({
    invocation_id: id,
    parent_invocation_id: parent,
    status: "completed",
    ...more,
  });

  it("returns the parent, name and times of every agent", () => {
    const row = {
      ng_trajectory: {
        invocations: [
          invocation("root", null, { model_calls: [{ model_call_id: "a" }] }),
          invocation("critic", "lost"),
          invocation("sub", "root", {
            spawned_by_tool_call_id: "c",
            model_calls: [{ model_ref: { name: "m" }, response_id: "r" }],
            duration_ms: 4000,
          }),
        ],
        model_calls: [
          { model_call_id: "a", started_at: 10, completed_at: 11 },
          { model_call_id: "b", started_at: 12, completed_at: 13, response: { id: "r" } },
        ],
        tool_calls: [
          {
            invocation_id: "root",
            tool_call_id: "c",
            tool_name: "delegate",
            started_at: 11,
            duration_ms: 6000,
          },
        ],
      },
    };
    expect(invocationsOf(row)).toMatchObject([
      { id: "root", parent: null, name: "root", depth: 0, from: 0, to: 7, model_calls: 1, tool_calls: 1 },
      { id: "sub", parent: "root", name: "delegate", spawned_by: "c", depth: 1, from: 2, to: 6 },
      { id: "critic", parent: null, depth: 0, from: null, to: null },
    ]);
    expect(callOwners(row)).toEqual({ models: ["root", "sub"], tools: new Map([["c", "root"]]) });
    expect(callOwners({})).toEqual({ models: [], tools: new Map() });
  });

  it("returns each recorded agent once", () => {
    expect(invocationsOf({})).toEqual([]);
    const circle = { invocations: [invocation("a", "b"), invocation("b", "a"), invocation("c", "c")] };
    const ids = invocationsOf({ ng_trajectory: circle }).map(({ id }) => id);
    expect(ids.sort()).toEqual(["a", "b", "c"]);
  });
});
