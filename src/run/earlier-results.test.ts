import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { artifactPaths } from "../records/files/artifact-paths.ts";
import { lockRun } from "../records/files/run-lock.ts";
import { heldAt, rejectReplacingExport, setAside } from "./earlier-results.ts";
import { replaceMerge, ShardedRollouts } from "./shards.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-earlier-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const put = (name: string, text: string) => writeFileSync(at(name), text);
const text = (name: string) => readFileSync(at(name), "utf8");
const rollout = (task: number, reward = 1) =>
  `${JSON.stringify({ reward, agent_ref: { name: "a" }, _ng_task_index: task, _ng_rollout_index: 0 })}\n`;

describe("content of an output", () => {
  it.each([
    ["a rollout", rollout(0), "run"],
    ["a rollout of another program", '{"reward": 0, "response": {}}\n', "run"],
    ["a failed rollout", '{"_ng_task_index": 0, "_ng_rollout_index": 0, "_ng_failure_class": "x"}\n', "run"],
    ["nothing", "", "nothing"],
    ["prose", "# Read me\n", "other"],
    ["dataset rows", '{"responses_create_params": {"input": "?"}}\n', "other"],
    ["materialized inputs", '{"_ng_task_index": 0, "_ng_rollout_index": 0}\n', "other"],
    ["bytes", "\u0000\u0001", "other"],
  ])("%s", async (_, content, held) => {
    put("out.jsonl", content);
    expect(await heldAt(artifactPaths(at("out.jsonl")))).toBe(held);
  });

  it("belongs to a run when its manifest exists, regardless of the rows", async () => {
    put("out.jsonl", '{"of": "a custom agent"}\n');
    put("out_manifest.json", "{}");
    expect(await heldAt(artifactPaths(at("out.jsonl")))).toBe("run");
  });

  it("also checks the failures file", async () => {
    put("out_failures.jsonl", "notes\n");
    expect(await heldAt(artifactPaths(at("out.jsonl")))).toBe("other");
  });
});

it("moves all files of a run away without replacing earlier ones", async () => {
  const paths = artifactPaths(at("out.jsonl"));
  for (const run of ["first", "second", "third"]) {
    for (const path of [paths.output, paths.statistics, paths.manifest, paths.materializedInputs])
      writeFileSync(path, run);
    await setAside(paths);
  }
  expect(text("out.jsonl.previous")).toBe("first");
  expect(text("out.jsonl.previous.2")).toBe("second");
  expect(text("out_statistics.json.previous.3")).toBe("third");
  expect(readdirSync(folder)).toHaveLength(12);
});

it("moves the health reports of a run away, but not those of another run", async () => {
  const paths = artifactPaths(at("out.jsonl"));
  put("out.jsonl", rollout(0));
  put("quality_summary.json", "of out");
  await setAside(paths);
  expect(text("quality_summary.json.previous")).toBe("of out");
  put("out.jsonl", rollout(0));
  put("out_quality_summary.json", "of out");
  put("quality_summary.json", "of another");
  put("another_manifest.json", "{}");
  await setAside(paths);
  expect(text("out_quality_summary.json.previous.2")).toBe("of out");
  expect(text("quality_summary.json")).toBe("of another");
});

describe("merging into an output", () => {
  const merge = async (shards: string[], matched = false) => {
    const notices: string[] = [];
    const sharded = await ShardedRollouts.index(shards.map(at));
    await replaceMerge(sharded, artifactPaths(at("all.jsonl")), {
      matched,
      onNotice: (notice) => notices.push(notice),
    });
    return notices;
  };
  beforeEach(() => {
    put("a.jsonl", rollout(0));
    put("b.jsonl", rollout(1));
  });

  it("replaces an earlier merge if it contains all its rollouts", async () => {
    expect(await merge(["a.jsonl"])).toEqual([]);
    expect(await merge(["a.jsonl", "b.jsonl"], true)).toEqual([]);
    expect(text("all.jsonl")).toBe(rollout(0) + rollout(1));
    expect(existsSync(at("all.jsonl.previous"))).toBe(false);
  });

  it("moves other rollouts away", async () => {
    put("all.jsonl", rollout(0, 0.5));
    expect((await merge(["a.jsonl"])).join()).toContain("moved to");
    expect(text("all.jsonl.previous")).toBe(rollout(0, 0.5));
    expect(text("all.jsonl")).toBe(rollout(0));
  });

  it("refuses to replace a shard", async () => {
    put("all.jsonl", rollout(7));
    await expect(merge(["a.jsonl"], true)).rejects.toThrow("is one of the shards");
    put("all.jsonl", rollout(0));
    put("all_manifest.json", "{}");
    await expect(merge(["a.jsonl"], true)).rejects.toThrow("is one of the shards");
    expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "all.jsonl", "all_manifest.json", "b.jsonl"]);
  });

  it("does not change a run that is being written", async () => {
    put("all.jsonl", rollout(7));
    const lock = await lockRun(at("all.jsonl"));
    await expect(merge(["a.jsonl"])).rejects.toThrow("in use by process");
    lock.release();
    await merge(["a.jsonl"]);
    expect(text("all.jsonl.previous")).toBe(rollout(7));
    expect(existsSync(at("all.jsonl.lock"))).toBe(false);
  });

  it("refuses to replace anything else", async () => {
    put("all.jsonl", "# Notes\n");
    await expect(merge(["a.jsonl"])).rejects.toThrow("contains no results of a run");
    expect(text("all.jsonl")).toBe("# Notes\n");
  });
});

it("replaces an earlier export only", async () => {
  const reject = (name: string, format: string) => rejectReplacingExport(at(name), format);
  put("sft.jsonl", '{"messages": []}\n');
  put("t.csv", "task_index,rollout_index,agent\n");
  put("t.parquet", "PAR1…");
  await reject("absent.jsonl", "sft");
  await reject("sft.jsonl", "dpo");
  await reject("t.csv", "csv");
  await reject("t.parquet", "parquet");
  put("README.md", "# Read me\n");
  put("run.jsonl", rollout(0));
  await expect(reject("README.md", "sft")).rejects.toThrow("contains no sft export");
  await expect(reject("sft.jsonl", "csv")).rejects.toThrow("contains no csv export");
  await expect(reject("t.csv", "parquet")).rejects.toThrow("contains no parquet export");
  await expect(reject("run.jsonl", "sft")).rejects.toThrow("contains the rollouts of a run");
});
