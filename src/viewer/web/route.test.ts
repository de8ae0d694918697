import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute, viewOfRow } from "./route.ts";

describe("routes", () => {
  it.each([
    ["#/", { name: "first" }],
    ["#/overview", { name: "overview" }],
    ["#/task/3", { name: "task", task: 3 }],
    ["#/task/3/rollout/1", { name: "rollout", task: 3, rollout: 1 }],
    ["#/sample/12", { name: "row", ref: { source: "rollouts", line: 12 } }],
    ["#/failure/2", { name: "row", ref: { source: "failures", line: 2 } }],
  ])("reads and writes %s", (hash, view) => {
    expect(parseRoute(hash)).toEqual({ view, filters: {} });
    expect(formatRoute({ view, filters: {} } as ReturnType<typeof parseRoute>)).toBe(hash);
  });

  it.each(["", "#", "#/nowhere", "#/task/x", "#/sample/0", "#/sample/-1", "#//", "#/task/1e3"])(
    "shows the first rollout for %s",
    (hash) => expect(parseRoute(hash).view).toEqual({ name: "first" }),
  );

  it("keeps the filters in the address", () => {
    const route = parseRoute("#/overview?text=a%26b%3F&reward_min=0.5&strange=1&status=failed");
    expect(route.filters).toEqual({ text: "a&b?", reward_min: "0.5", status: "failed" });
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it("links to a rollout by task where it can", () => {
    expect(viewOfRow({ source: "rollouts", line: 4, task: 2, rollout: 0 })).toEqual({
      name: "rollout",
      task: 2,
      rollout: 0,
    });
    expect(viewOfRow({ source: "failures", line: 4, task: 2, rollout: 0 })).toMatchObject({ name: "row" });
    expect(viewOfRow({ source: "rollouts", line: 4, task: null, rollout: null })).toMatchObject({
      name: "row",
    });
  });
});
