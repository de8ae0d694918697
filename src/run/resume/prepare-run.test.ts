import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { artifactPaths, assertRegularFile, makeOutputDirectory } from "../../records/files/artifact-paths.ts";
import { writeFileAtomically } from "../../records/files/atomic-file.ts";
import { assertNotOverwriting, prepareRun } from "./prepare-run.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-prepare-"));
  writeFileSync(join(folder, "in.jsonl"), '{"responses_create_params":{"input":"a"}}\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ROLLOUT = '{"reward":1,"response":{},"_ng_task_index":0,"_ng_rollout_index":0}\n';

function prepare(output: string, input = "in.jsonl", notices: string[] = [], resume = false) {
  return prepareRun({
    paths: artifactPaths(join(folder, output)),
    expand: { inputPath: join(folder, input), agentName: "agent" },
    config: {},
    gymVersion: "test",
    resume,
    force: false,
    limits: { concurrency: null, maxAttempts: 3, rolloutTimeoutMs: null, runTimeoutMs: null },
    onNotice: (text) => notices.push(text),
  });
}

it("never overwrites its own input under any path", async () => {
  symlinkSync(join(folder, "in.jsonl"), join(folder, "link.jsonl"));
  await expect(prepare("in.jsonl")).rejects.toThrow("would overwrite its own input");
  await expect(prepare("link.jsonl")).rejects.toThrow("would overwrite its own input");
  expect(readFileSync(join(folder, "in.jsonl"), "utf8")).toContain("responses_create_params");
});

it("never overwrites a file that does not belong to the run", async () => {
  writeFileSync(join(folder, "run_failures.jsonl"), "{}\n");
  const reject = (output: string) =>
    assertNotOverwriting(
      "a dataset of the config",
      ["in.jsonl", "absent.jsonl", "run_failures.jsonl"].map((name) => join(folder, name)),
      artifactPaths(join(folder, output)),
    );
  await expect(reject("in.jsonl")).rejects.toThrow("would overwrite a dataset of the config");
  await expect(reject("run.jsonl")).rejects.toThrow("run_failures.jsonl");
  await reject("absent.jsonl");
});

it("moves the results of an earlier run away when it begins, with a notice", async () => {
  writeFileSync(join(folder, "out.jsonl"), ROLLOUT);
  writeFileSync(join(folder, "out_statistics.json"), "{}");
  const notices: string[] = [];
  const { rollouts, begin } = await prepare("out.jsonl", "in.jsonl", notices);
  expect(rollouts.summary.remaining).toBe(1);
  expect(readFileSync(join(folder, "out.jsonl"), "utf8")).toBe(ROLLOUT);
  await begin();
  expect(readFileSync(join(folder, "out.jsonl.previous"), "utf8")).toBe(ROLLOUT);
  expect(existsSync(join(folder, "out.jsonl"))).toBe(false);
  expect(existsSync(join(folder, "out_statistics.json.previous"))).toBe(true);
  expect(notices.join()).toContain("moved to");
  for await (const { taskIndex } of rollouts.rows()) expect(taskIndex).toBe(0);
  // Further calls have no effect.
  writeFileSync(join(folder, "out.jsonl"), "{}\n");
  await begin();
  expect(existsSync(join(folder, "out.jsonl"))).toBe(true);
});

it("keeps the results of all earlier runs", async () => {
  for (const reward of [1, 2, 3]) {
    writeFileSync(join(folder, "out.jsonl"), ROLLOUT.replace("1", String(reward)));
    await (await prepare("out.jsonl")).begin();
  }
  const rewards = ["", ".2", ".3"].map((ending) =>
    readFileSync(join(folder, `out.jsonl.previous${ending}`), "utf8").slice(0, 11),
  );
  expect(rewards).toEqual(['{"reward":1', '{"reward":2', '{"reward":3']);
});

it("moves only results of runs", async () => {
  for (const content of ["# Read me\n", '{"responses_create_params":{"input":"?"}}\n']) {
    writeFileSync(join(folder, "README.md"), content);
    await expect(prepare("README.md")).rejects.toThrow("contains no results of a run");
    await expect(prepare("README.md", "in.jsonl", [], true)).rejects.toThrow("contains no results of a run");
    expect(readFileSync(join(folder, "README.md"), "utf8")).toBe(content);
  }
  expect(readdirSync(folder).sort()).toEqual(["README.md", "in.jsonl"]);
});

it("changes no file when it rejects or the run does not begin", async () => {
  writeFileSync(join(folder, "empty.jsonl"), "");
  await expect(prepare("new.jsonl", "empty.jsonl")).rejects.toThrow("has no rows");
  await (await prepare("out.jsonl")).begin();
  writeFileSync(join(folder, "out.jsonl"), ROLLOUT);
  const state = () =>
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  const before = state();
  await expect(prepare("out.jsonl", "empty.jsonl")).rejects.toThrow("has no rows");
  expect(state()).toEqual(before);
  writeFileSync(join(folder, "in.jsonl"), "no JSON\n");
  const spoilt = state();
  await expect(prepare("out.jsonl")).rejects.toThrow("not JSON");
  expect(state()).toEqual(spoilt);
  writeFileSync(join(folder, "in.jsonl"), '{"responses_create_params":{"input":"b"}}\n');
  const changed = state();
  const { discard } = await prepare("out.jsonl");
  await discard();
  expect(state()).toEqual(changed);
});

it("refuses to resume results whose inputs are missing", async () => {
  writeFileSync(join(folder, "out.jsonl"), ROLLOUT);
  await expect(prepare("out.jsonl", "in.jsonl", [], true)).rejects.toThrow(
    /has results, but the remaining rollouts are unknown: .*out_materialized_inputs\.jsonl not found/,
  );
  expect(readFileSync(join(folder, "out.jsonl"), "utf8")).toBe(ROLLOUT);
  const notices: string[] = [];
  expect((await prepare("fresh.jsonl", "in.jsonl", notices, true)).resumed).toBe(false);
  expect(notices.join()).toContain("nothing to resume");
});

it("creates directories, and reports when it cannot", async () => {
  await makeOutputDirectory(join(folder, "a/b/c"));
  expect(existsSync(join(folder, "a/b/c"))).toBe(true);
  await expect(makeOutputDirectory(join(folder, "in.jsonl/x"))).rejects.toThrow(
    /in\.jsonl' is a file; a directory is needed there/,
  );
  if (existsSync("/proc"))
    await expect(makeOutputDirectory("/proc/nemo-gym/x")).rejects.toThrow("/proc/nemo-gym");
});

it("accepts only files as outputs", async () => {
  await assertRegularFile(join(folder, "new.jsonl"));
  await assertRegularFile(join(folder, "in.jsonl"));
  await expect(assertRegularFile(folder)).rejects.toThrow("is a directory");
  await expect(assertRegularFile(join(folder, "in.jsonl/a/b.jsonl"))).rejects.toThrow(
    /b\.jsonl' cannot be created: '.*in\.jsonl' is a file, not a directory/,
  );
  await expect(assertRegularFile("/dev/stdout")).rejects.toThrow("is a device");
  await expect(assertRegularFile("/dev/null")).rejects.toThrow("is a device");
  await expect(writeFileAtomically("/dev/null", ["x"])).rejects.toThrow("is a device");
});
