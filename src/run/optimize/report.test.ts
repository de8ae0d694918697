import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { OptimizeResult } from "./optimize.ts";
import { conclusionOf, writeResult } from "./report.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-report-"));
});
afterEach(() => rm(directory, { recursive: true }));

const result = (members: Partial<OptimizeResult>): OptimizeResult => ({
  improved: false,
  best: 1,
  candidates: [],
  test: null,
  untested: "no test task was scored with both texts: timeout: too slow",
  stopped: "all training rollouts failed: timeout: too slow",
  rejections: {},
  files: {
    config: path.join(directory, "best.yaml"),
    report: path.join(directory, "report.md"),
    lineage: path.join(directory, "lineage.jsonl"),
  },
  ...{ rollouts: 1, tokens: 2, spent: 0 },
  ...members,
});

it("says why there was no test", () => {
  expect(conclusionOf(result({}))).toBe(
    "No improvement shown: no test task was scored with both texts: timeout: too slow.",
  );
  expect(conclusionOf(result({ best: 0, untested: null }))).toContain("no candidate is better");
});

it("reports the end of the search, and each leak once with its row", async () => {
  const leak = {
    component: "system_prompt",
    task: 3,
    source: "rows.jsonl:7",
    field: "answer",
    words: "blue sky",
  };
  const layer = { textOverrides: undefined, promptConfig: "/a/prompt.yaml", skills: "/a/skills", config: {} };
  const leaks = [
    { ...leak, count: 4 },
    { ...leak, words: "red sky", count: 1 },
  ];
  await writeResult(result({}), { layer, leaks, isComplete: true });
  const report = await readFile(path.join(directory, "report.md"), "utf8");
  expect(report).toContain("The search ended because all training rollouts failed: timeout: too slow.");
  expect(report).toContain('- system_prompt: "blue sky" is in `answer` of rows.jsonl:7 (4 proposals)\n');
  expect(report).toContain('- system_prompt: "red sky" is in `answer` of rows.jsonl:7\n');
});
