import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { artifactPaths } from "../records/files/artifact-paths.ts";
import type { ZeroSetting } from "./count-as-zero.ts";
import { summarize } from "./summarize.ts";

const key = (task: number) => ({
  agent_ref: { name: "a" },
  _ng_task_index: task,
  _ng_rollout_index: 0,
});

/** Task 0 was scored, 1 failed in the agent, 2 failed twice, 3 left no row. */
async function summaryWith(zeros?: ZeroSetting) {
  const directory = await mkdtemp(join(tmpdir(), "zeros-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const paths = artifactPaths(join(directory, "out.jsonl"));
  const write = (path: string, rows: object[]) =>
    writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const inputs = [0, 1, 2, 3].map((task) => ({ level: 10 + task, secret: task, ...key(task) }));
  await write(paths.materializedInputs, inputs);
  await write(paths.output, [{ reward: 1, level: 10, ...key(0) }]);
  await write(paths.failures, [
    { ...inputs[0], ...key(0), _ng_failure_class: "agent_error" },
    {
      ...inputs[1],
      ...key(1),
      mask_sample: true,
      _ng_failure_class: "agent_error",
      _ng_failure_http_status: 500,
    },
    { ...inputs[2], ...key(2), _ng_failure_class: "agent_error" },
    { ...inputs[2], ...key(2), _ng_failure_class: "timeout" },
  ]);
  const summary = await summarize({
    rollouts: [paths.output],
    failures: [paths.failures],
    materializedInputs: [paths.materializedInputs],
    zeros,
    targets: paths,
    onNotice: () => {},
  });
  const statistics = JSON.parse(await readFile(paths.statistics, "utf8")) as Record<string, unknown>;
  return { ...summary, metrics: summary.agents[0]?.metrics.agent_metrics ?? {}, statistics };
}

it("counts failures of the named classes as zero, by the last attempt", async () => {
  const { metrics, countedAsZero, coverage, statistics } = await summaryWith({
    failureClasses: ["agent_run_error"],
    missing: false,
  });
  expect(countedAsZero).toEqual({ failed: 1, missing: 0 });
  expect(statistics["counted_as_zero"]).toEqual(countedAsZero);
  expect(metrics).toMatchObject({ "mean/reward": 0.5, "mean/level": 10.5 });
  expect(Object.keys(metrics).filter((name) => /secret|http_status/.test(name))).toEqual([]);
  expect(coverage).toEqual({ expected: 4, ok: 1, masked: 0, failed: 2, missing: 1 });
});

it("counts rollouts without any row as zero, and no failures", async () => {
  const { metrics, countedAsZero } = await summaryWith({ failureClasses: [], missing: true });
  expect(countedAsZero).toEqual({ failed: 0, missing: 1 });
  expect(metrics).toMatchObject({ "mean/reward": 0.5, "mean/level": 11.5 });
});

it("counts nothing as zero by default", async () => {
  const { metrics, countedAsZero } = await summaryWith();
  expect(countedAsZero).toBeUndefined();
  expect(metrics).toMatchObject({ "mean/reward": 1 });
});
