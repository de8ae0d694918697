import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { artifactPaths } from "./artifact-paths.ts";
import { makeDirectory } from "./make-directory.ts";
import { prepareRun, refuseOverwriting } from "./prepare-run.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-prepare-"));
  writeFileSync(join(folder, "in.jsonl"), '{"responses_create_params":{"input":"a"}}\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function prepare(output: string, input = "in.jsonl", notices: string[] = []) {
  return prepareRun({
    paths: artifactPaths(join(folder, output)),
    expand: { inputPath: join(folder, input), agentName: "agent" },
    config: {},
    gymVersion: "test",
    resume: false,
    force: false,
    maxAttempts: 3,
    onNotice: (text) => notices.push(text),
  });
}

it("never overwrites its own input, under whatever name", async () => {
  symlinkSync(join(folder, "in.jsonl"), join(folder, "link.jsonl"));
  await expect(prepare("in.jsonl")).rejects.toThrow("would overwrite its own input");
  await expect(prepare("link.jsonl")).rejects.toThrow("would overwrite its own input");
  expect(readFileSync(join(folder, "in.jsonl"), "utf8")).toContain("responses_create_params");
});

it("never overwrites a file that is somebody else's", async () => {
  writeFileSync(join(folder, "run_failures.jsonl"), "{}\n");
  const refuse = (output: string) =>
    refuseOverwriting(
      "a dataset of the config",
      ["in.jsonl", "absent.jsonl", "run_failures.jsonl"].map((name) => join(folder, name)),
      artifactPaths(join(folder, output)),
    );
  await expect(refuse("in.jsonl")).rejects.toThrow("would overwrite a dataset of the config");
  await expect(refuse("run.jsonl")).rejects.toThrow("run_failures.jsonl");
  await refuse("absent.jsonl");
});

it("sets the results of an earlier run aside and says so", async () => {
  writeFileSync(join(folder, "out.jsonl"), "{}\n");
  const notices: string[] = [];
  const { plan } = await prepare("out.jsonl", "in.jsonl", notices);
  expect(plan.summary.remaining).toBe(1);
  expect(readFileSync(join(folder, "out.jsonl.previous"), "utf8")).toBe("{}\n");
  expect(existsSync(join(folder, "out.jsonl"))).toBe(false);
  expect(notices.join()).toContain("moved to");
});

it("refuses an input without rows", async () => {
  writeFileSync(join(folder, "empty.jsonl"), "");
  await expect(prepare("out.jsonl", "empty.jsonl")).rejects.toThrow("has no rows");
});

it("makes directories, and fails where none can be made", async () => {
  await makeDirectory(join(folder, "a/b/c"));
  expect(existsSync(join(folder, "a/b/c"))).toBe(true);
  await expect(makeDirectory(join(folder, "in.jsonl/x"))).rejects.toThrow(/in.jsonl/);
  if (existsSync("/proc")) await expect(makeDirectory("/proc/nemo-gym/x")).rejects.toThrow("/proc/nemo-gym");
});
