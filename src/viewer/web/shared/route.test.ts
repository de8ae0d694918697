import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute, viewOfRow } from "./route.ts";

describe("addresses of the viewer", () => {
  it.each([
    "#/runs",
    "#/overview",
    "#/tasks?set=mixed&by=variance",
    "#/task/3",
    "#/task/3/rollout/1?item=7",
    "#/task/3/rollout/1?turn=2",
    "#/sample/12",
    "#/failure/2?q=reward%3C0.5",
    "#/compare?runs=a%2Cb",
    "#/run/solver%2F2026-01-31/rollouts?q=tool%3Apython&sort=reward&order=desc",
  ])("parses and formats %s", (hash) => {
    expect(formatRoute(parseRoute(hash))).toBe(hash);
  });

  it("opens the overview of a run, or the list of runs", () => {
    expect(parseRoute("")).toEqual({ run: null, view: { name: "runs" }, parameters: {} });
    expect(parseRoute("#/run/a")).toEqual({ run: "a", view: { name: "overview" }, parameters: {} });
    expect(parseRoute("#/run/%zz/live")).toMatchObject({ run: "%zz", view: { name: "live" } });
  });

  it.each(["nonsense", "nonsense/x", "overview/x", "task/x", "task/1/rollout", "task/1/x/2", "sample/0"])(
    "reports an unknown page: %s",
    (path) => {
      for (const run of ["", "run/a/"]) {
        const route = parseRoute(`#/${run}${path}`);
        expect(route.view).toEqual({ name: "unknown", path });
        expect(formatRoute(route)).toBe(`#/${run}${path}`);
      }
    },
  );

  it("understands addresses of earlier versions", () => {
    expect(parseRoute("#/overview?status=failed&reward_min=0.5&text=a+%22b").parameters.q).toBe(
      '"a \\"b" is:failed reward>=0.5',
    );
    expect(parseRoute("#/overview?pass_threshold=0.7").parameters.pass).toBe("0.7");
  });

  it("addresses a row by task and rollout, or by its line", () => {
    const row = { source: "rollouts", line: 5, task: 1, rollout: 2, addressed: true } as const;
    expect(viewOfRow(row)).toEqual({ name: "rollout", task: 1, rollout: 2 });
    expect(viewOfRow({ ...row, source: "failures" })).toEqual({
      name: "row",
      ref: { source: "failures", line: 5 },
    });
    // Another row has the same task and rollout.
    expect(viewOfRow({ ...row, addressed: false })).toEqual({
      name: "row",
      ref: { source: "rollouts", line: 5 },
    });
  });
});
