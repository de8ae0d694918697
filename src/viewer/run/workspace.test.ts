import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace } from "./workspace.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-workspace-"));
});
afterEach(() => rm(directory, { recursive: true }));

const rollout = '{"reward":1,"response":{},"_ng_task_index":0,"_ng_rollout_index":0}\n';
const start = '{"kind":"start","key":{"splits":{"val":[]}}}\n';

it("finds runs and optimizations that are newer than its list", async () => {
  const add = async (name: string, file: string, text: string) => {
    await mkdir(path.join(directory, name), { recursive: true });
    await writeFile(path.join(directory, name, file), text);
  };
  await add("first", "rollouts.jsonl", rollout);
  await add("second", "rollouts.jsonl", rollout);
  const workspace = await Workspace.open([directory]);
  await add("opt1", "lineage.jsonl", start);
  expect((await workspace.optimization("opt1")).candidates).toEqual([]);
  await expect(workspace.optimization("opt2")).rejects.toThrow("There is no optimization 'opt2'.");
  const before = new Set(workspace.ids);
  await add("third", "rollouts.jsonl", rollout);
  const [first = ""] = before;
  const third = first.replace(/first|second/, "third");
  expect((await workspace.run(third)).id).toBe(third);
  await expect(workspace.run("fourth")).rejects.toThrow("There is no run 'fourth'");
  await workspace.close();
});
