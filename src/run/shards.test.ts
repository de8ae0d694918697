import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findShards, ShardedRollouts } from "./shards.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "shards-"));
});
afterEach(() => rm(directory, { recursive: true }));

const file = async (name: string, lines: string[]): Promise<string> => {
  await mkdir(join(directory, name, ".."), { recursive: true });
  await writeFile(join(directory, name), lines.map((line) => `${line}\n`).join(""));
  return join(directory, name);
};
const rollout = (task: number, index: number, reward: unknown) =>
  JSON.stringify({ reward, agent_ref: { name: "a" }, _ng_task_index: task, _ng_rollout_index: index });
const names = (paths: string[]) => paths.map((path) => path.slice(directory.length + 1));

describe("shards", () => {
  it("finds files by shell patterns, each file once", async () => {
    for (const name of ["s1.jsonl", "s10.jsonl", "s2.jsonl", ".s3.jsonl", "d/s1.jsonl", "s[x].jsonl"])
      await file(name, []);
    const found = async (patterns: string) => names((await findShards(patterns, directory, undefined)).paths);
    expect(await found(" s?.jsonl , s*.jsonl,,")).toEqual([
      "s1.jsonl",
      "s2.jsonl",
      "s10.jsonl",
      "s[x].jsonl",
    ]);
    expect(await found("*/s1.jsonl")).toEqual(["d/s1.jsonl"]);
    expect(await found("**/s1.jsonl")).toEqual(["d/s1.jsonl"]);
    expect(await found("s[12].jsonl")).toEqual(["s1.jsonl", "s2.jsonl"]);
    expect(await found("s[!1].jsonl")).toEqual(["s2.jsonl"]);
    expect(await found("s[[]x].jsonl")).toEqual(["s[x].jsonl"]);
    expect(await found(".s*")).toEqual([".s3.jsonl"]);
    expect(await found(join(directory, "s1.jsonl"))).toEqual(["s1.jsonl"]);
    await expect(found("none*")).rejects.toThrow(/No shards matched input_glob='none\*'/);
  });

  it("skips sidecars of the shards and the target file", async () => {
    for (const name of [
      "a.jsonl",
      "a_failures.jsonl",
      "a_materialized_inputs.jsonl",
      "all.jsonl",
      "b_failures.jsonl",
    ])
      await file(name, []);
    const { paths, leftOut } = await findShards("*.jsonl", directory, join(directory, "all.jsonl"));
    expect(names(paths)).toEqual(["a.jsonl", "b_failures.jsonl"]);
    expect(names(leftOut)).toEqual(["a_failures.jsonl", "a_materialized_inputs.jsonl", "all.jsonl"]);
  });

  it("rejects a rollout that is in two shards, and names both", async () => {
    const paths = [await file("a.jsonl", [rollout(0, 0, 1)]), await file("b.jsonl", ["", rollout(0, 0, 0)])];
    await expect(ShardedRollouts.index(paths)).rejects.toThrow(
      /b\.jsonl:2: rollout 0 of task 0 is also in '.*a\.jsonl'/,
    );
  });

  it("merges rows in the order of their keys", async () => {
    const paths = [
      await file("a.jsonl", [rollout(1, 0, 1), "", rollout(0, 1, 1)]),
      await file("b.jsonl", [
        '{"reward": 1.0, "_ng_task_index": 0, "_ng_rollout_index": 0}',
        rollout(10, 0, 1),
      ]),
    ];
    const sharded = await ShardedRollouts.index(paths);
    expect(sharded.size).toBe(4);
    expect([...sharded.agents]).toEqual(["a"]);
    await sharded.merge(join(directory, "all.jsonl"));
    const lines = (await readFile(join(directory, "all.jsonl"), "utf8")).trimEnd().split("\n");
    expect(lines[0]).toBe('{"reward":1.0,"_ng_task_index":0,"_ng_rollout_index":0}');
    expect(lines.map((line) => JSON.parse(line)._ng_task_index)).toEqual([0, 0, 1, 10]);
  });
});
