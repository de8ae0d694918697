import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ArtifactPaths, artifactPaths } from "../../records/files/artifact-paths.ts";
import {
  maxAttemptsFrom,
  missingForResume,
  planResume,
  type ResumeSummary,
  type RetrySettings,
} from "./resume.ts";

let directory: string;
let paths: ArtifactPaths;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "resume-"));
  paths = artifactPaths(join(directory, "out.jsonl"));
});
afterEach(() => rm(directory, { recursive: true }));

const key = (task: number, rollout: number, rest = "") =>
  `{"x":1${rest},"_ng_task_index":${task},"_ng_rollout_index":${rollout}}\n`;

async function planned(
  files: { inputs: string; output: string; failures?: string },
  maxAttempts?: number,
  options: RetrySettings = {},
) {
  await writeFile(paths.materializedInputs, files.inputs);
  await writeFile(paths.output, files.output);
  if (files.failures !== undefined) await writeFile(paths.failures, files.failures);
  const plan = await planResume(paths, { ...options, ...(maxAttempts !== undefined && { maxAttempts }) });
  const keys: string[] = [];
  for await (const { taskIndex, rolloutIndex, attempt, row } of plan.rows()) {
    keys.push(`${taskIndex}:${rolloutIndex}${attempt > 0 ? ` a${String(row["_ng_attempt_index"])}` : ""}`);
  }
  return { keys, summary: plan.summary };
}

const four = key(0, 0) + key(0, 1) + key(1, 0) + key(1, 1);
const terminal = ',"_ng_failure_terminal":true';

describe("planResume", () => {
  it("runs rollouts that are neither done, nor terminal, nor exhausted", async () => {
    const { keys, summary } = await planned({
      inputs: four + key(2, 0),
      output: key(1, 0),
      failures: key(0, 1) + key(0, 0, terminal) + key(1, 1) + key(1, 1) + key(1, 1) + key(1, 0) + key(9, 9),
    });
    expect(keys).toEqual(["0:1 a1", "2:0"]);
    expect(summary).toEqual({
      materializedRows: 5,
      done: 1,
      failedAttempts: 6,
      rolloutsWithFailures: 4,
      terminal: 1,
      exhausted: 1,
      remaining: 2,
      duplicates: 0,
      duplicateLines: [],
      tornOutput: false,
      tornFailures: false,
    } satisfies ResumeSummary);
  });

  it("does not count failures of endpoints as attempts", async () => {
    const outage = ',"_ng_failure_class":"provider_rate_limit"';
    const { keys, summary } = await planned({
      inputs: four,
      output: key(0, 0),
      failures: [1, 2, 3].map(() => key(0, 1, outage) + key(1, 0)).join(""),
    });
    expect(keys).toEqual(["0:1", "1:1"]);
    expect(summary).toMatchObject({ failedAttempts: 6, exhausted: 1, remaining: 2 });
  });

  it("tries terminal time-outs again on request, and never those that were skipped", async () => {
    const failed = (name: string, isTerminal = true) =>
      `,"_ng_failure_class":"${name}"${isTerminal ? terminal : ""}`;
    const files = {
      inputs: four,
      output: "",
      failures:
        key(0, 0, failed("timeout_exceeded")) + key(0, 1, failed("skipped", false)) + key(1, 0, failed("x")),
    };
    expect((await planned(files)).keys).toEqual(["0:1 a1", "1:1"]);
    const again = await planned(files, undefined, { retryTerminalTimeouts: true });
    expect(again.keys).toEqual(["0:0 a1", "1:1"]);
  });

  it("starts with the rollouts whose attempts took longest on request", async () => {
    const failures =
      key(1, 1, ',"elapsed_seconds":7') +
      key(1, 0, ',"_ng_timing":{"seconds":90}') +
      key(1, 1, ',"elapsed_seconds":3') +
      key(2, 0, ',"response":{"metadata":{"elapsed_seconds":"12.5"}}');
    const files = { inputs: four + key(2, 0), output: "", failures };
    expect((await planned(files, 5)).keys).toEqual(["0:0", "0:1", "1:0 a1", "1:1 a2", "2:0 a1"]);
    const { keys } = await planned(files, 5, { longestFirst: true });
    expect(keys).toEqual(["1:0 a1", "2:0 a1", "1:1 a2", "0:0", "0:1"]);
  });

  it("runs all failed rollouts again on request", async () => {
    const failures = key(0, 1, terminal) + key(1, 0) + key(1, 0) + key(1, 0);
    const { keys, summary } = await planned({ inputs: four, output: key(0, 0), failures }, undefined, {
      retryFailed: true,
    });
    expect(keys).toEqual(["0:1", "1:0", "1:1"]);
    expect(summary).toMatchObject({ failedAttempts: 4, terminal: 0, exhausted: 0, remaining: 3 });
  });

  it("sums completed rollouts, each once", async () => {
    const result = (reward: number, tokens: number) =>
      `,"agent_ref":{"name":"a"},"reward":${reward},"response":{"usage":{"input_tokens":${tokens},"output_tokens":1}}`;
    await writeFile(paths.materializedInputs, four);
    await writeFile(
      paths.output,
      key(0, 0, result(1, 5)) +
        key(1, 0, result(0, 7)) +
        key(0, 0, result(1, 5)) +
        key(1, 1, ',"reward":null'),
    );
    const { earlier } = await planResume(paths);
    expect(earlier).toMatchObject({ inputTokens: 12, outputTokens: 2, cost: null });
    expect(earlier.rewards.mean).toBe(0.5);
    expect(earlier.byAgent).toEqual({ a: { done: 2, mean_reward: 0.5 }, "": { done: 1, mean_reward: null } });
  });

  it("treats a torn last line as not written", async () => {
    const { keys, summary } = await planned({
      inputs: four,
      output: `${key(0, 0)}{"_ng_task_index":0,"_ng_ro`,
      failures: '{"_ng_task_ind',
    });
    expect(keys).toEqual(["0:1", "1:0", "1:1"]);
    expect(summary).toMatchObject({ tornOutput: true, tornFailures: true });
  });

  it("counts a last line without a newline", async () => {
    const { keys } = await planned({ inputs: four, output: key(0, 0) + key(0, 1).trimEnd() });
    expect(keys).toEqual(["1:0", "1:1"]);
  });

  it("detects repeated rollouts", async () => {
    const { summary } = await planned({ inputs: four, output: key(0, 0) + key(0, 1) + key(0, 0) });
    expect(summary).toMatchObject({ done: 2, duplicates: 1, duplicateLines: [`${paths.output}:3`] });
  });

  it("reads materialized rows with indices at any position", async () => {
    const inputs =
      '{"_ng_rollout_index": 3, "_ng_task_index": 2, "a": {"_ng_task_index":7,"_ng_rollout_index":7}}\n';
    expect((await planned({ inputs, output: "" })).keys).toEqual(["2:3"]);
    const decoy = '{"_ng_rollout_index":1,"_ng_task_index":4,"s\\",\\"_ng_task_index":5}\n';
    expect((await planned({ inputs: decoy, output: "" })).keys).toEqual(["4:1"]);
  });

  it.each([
    ["a malformed line", { inputs: four, output: `{"a\n${key(0, 0)}` }, /out\.jsonl:1: the line is not JSON/],
    ["a blank line", { inputs: four, output: `\n${key(0, 0)}` }, /out\.jsonl:1: the line is blank/],
    ["a row of another run", { inputs: four, output: key(7, 0) }, /out\.jsonl:1: .* another run/],
    ["a row without index", { inputs: four, output: '{"_ng_task_index":1}\n' }, /:1: the row lacks/],
    ["a repeated input", { inputs: four + key(0, 0), output: "" }, /inputs\.jsonl:5: .* occurs twice/],
    [
      "a malformed failure",
      { inputs: four, output: "", failures: "{\n{}\n" },
      /failures\.jsonl:1: the line is not JSON/,
    ],
  ])("rejects %s", async (_, files, message) => {
    await expect(planned(files)).rejects.toThrow(message);
  });

  it("names the missing file", async () => {
    expect(await missingForResume(paths)).toEqual([paths.materializedInputs, paths.output]);
    await writeFile(paths.output, "");
    expect(await missingForResume(paths)).toEqual([paths.materializedInputs]);
  });
});

describe("maxAttemptsFrom", () => {
  it.each([
    [undefined, 3, false],
    ["5", 5, false],
    [" 2 ", 2, false],
    ["0", 3, true],
    ["-1", 3, true],
    ["2.5", 3, true],
    ["many", 3, true],
    ["", 3, false],
    ["1_0", 10, false],
  ])("reads %j as %d", (text, attempts, warns) => {
    const warnings: string[] = [];
    expect(maxAttemptsFrom(text, (message) => warnings.push(message))).toBe(attempts);
    expect(warnings.length > 0).toBe(warns);
  });
});
