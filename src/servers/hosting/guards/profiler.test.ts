import { expect, it } from "vitest";
import { joinProfiles, profileDirectory } from "./profiler.ts";

const frame = (functionName: string) => ({
  functionName,
  scriptId: "1",
  url: "file:///app.js",
  lineNumber: 1,
  columnNumber: 2,
});

const part = (startTime: number, names: string[], samples: number[], timeDeltas: number[]) => ({
  startTime,
  endTime: startTime + 100,
  nodes: names.map((name, index) => ({
    id: index + 1,
    callFrame: frame(name),
    hitCount: 1,
    ...(index === 0 && { children: names.slice(1).map((_, child) => child + 2) }),
  })),
  samples,
  timeDeltas,
});

it("joins the parts of a profile into one tree and one timeline", () => {
  const joined = joinProfiles([
    part(1000, ["(root)", "verify"], [2, 2], [10, 20]),
    part(1100, ["(root)", "parse", "verify"], [2, 3], [5, 5]),
  ]);
  const names = joined.nodes.map(({ callFrame }) => callFrame.functionName);
  expect(names).toEqual(["(root)", "verify", "parse"]);
  expect(joined.nodes[0]?.children).toEqual([2, 3]);
  expect(joined.nodes.map(({ hitCount }) => hitCount)).toEqual([2, 2, 1]);
  expect(joined.samples).toEqual([2, 2, 3, 2]);
  expect(joined.timeDeltas).toEqual([10, 20, 75, 5]);
  expect([joined.startTime, joined.endTime]).toEqual([1000, 1200]);
});

it("has a directory only with profiling enabled and names missing keys", () => {
  const root = "/opt/nemo-gym";
  expect(profileDirectory({ profiling_results_dirpath: "p" }, root)).toBeUndefined();
  const config = { profiling_enabled: true, profiling_results_dirpath: "p" };
  expect(profileDirectory(config, root)).toBe("/opt/nemo-gym/p");
  expect(profileDirectory(config, "/x/node_modules/nemo-gym")).toBe(`${process.cwd()}/p`);
  expect(() => profileDirectory({ profiling_enabled: true }, root)).toThrow("profiling_results_dirpath");
  expect(() => profileDirectory({ profiling_enabled: "yes" }, root)).toThrow('is "yes"');
});
