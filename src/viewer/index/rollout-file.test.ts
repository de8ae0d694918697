import { execFileSync } from "node:child_process";
import {
  appendFile,
  mkdtemp,
  readFile,
  rm,
  stat,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { messageItem, verifyBody } from "../../servers/hosting/response-items.ts";
import { indexPath } from "./index-file.ts";
import { RolloutFile } from "./rollout-file.ts";

const row = (task: number, rollout: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    ...verifyBody(
      { responses_create_params: { input: `question ${task}` } },
      messageItem(`answer ${rollout}`),
    ),
    reward: rollout,
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    agent_ref: { name: "solver" },
    ...more,
  });

async function fileWith(content: string) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
  const name = path.join(directory, "rollouts.jsonl");
  await writeFile(name, content);
  const file = new RolloutFile(name);
  onTestFinished(async () => {
    await file.close();
    await rm(directory, { recursive: true });
  });
  await file.update();
  return file;
}

describe("RolloutFile", () => {
  it("indexes the position and facts of every row, and reads single rows", async () => {
    const lines = [row(0, 0), row(3, 1, { mask_sample: true }), "[1]", "{", ""];
    const file = await fileWith(`${lines.join("\n")}\n`);
    const { columns } = file;
    expect(columns.length).toBe(5);
    expect(lines.map((_, place) => columns.isReadable(place))).toEqual([true, true, false, false, false]);
    expect(columns.unreadable).toBe(3);
    expect(columns.task(1)).toBe(3);
    expect(columns.reward(1)).toBe(1);
    expect(columns.countedReward(1)).toBeNaN();
    expect(columns.masked(1)).toBe(true);
    expect(columns.agent(1)).toBe("solver");
    expect(await file.excerpts(1)).toEqual({ prompt: "question 3", answer: "answer 1" });
    expect((await file.read(1)).toString()).toBe(lines[1]);
    expect((await file.read(1, 10)).toString()).toBe(lines[1]?.slice(0, 10));
  });

  it("follows a growing file, however it is split into writes", async () => {
    const file = await fileWith("");
    const whole = `${row(0, 0)}\n${row(0, 1)}\n`;
    const middle = whole.length - 40;
    await appendFile(file.path, whole.slice(0, middle));
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, tornLine: 2 });
    await appendFile(file.path, whole.slice(middle, -1));
    await file.update();
    // Complete JSON without its newline is a row; the newline that follows later is not another one.
    expect(file.progress).toMatchObject({ rows: 2, tornLine: null });
    await appendFile(file.path, `\n${row(1, 0)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 3, tornLine: null, generation: 0 });
    expect([0, 1, 2].map((place) => file.columns.task(place))).toEqual([0, 0, 1]);
    expect((await file.read(2)).toString()).toBe(row(1, 0));
    expect(file.progress.indexedBytes).toBe(file.progress.bytes);
  });

  it("starts again when the file is replaced, truncated or removed", async () => {
    const file = await fileWith(`${row(0, 0)}\n${row(0, 1)}\n`);
    await truncate(file.path, row(0, 0).length + 1);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, generation: 1 });
    // Overwritten with longer content.
    await writeFile(file.path, `${row(5, 0)}\n${row(5, 1)}\n${row(5, 2)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 3, generation: 2 });
    expect(file.columns.task(0)).toBe(5);
    await unlink(file.path);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 0, exists: false, generation: 3 });
    await writeFile(file.path, `${row(7, 0)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, exists: true });
    expect(file.columns.task(0)).toBe(7);
  });

  it("does not block on a pipe", async () => {
    const file = await fileWith(`${row(0, 0)}\n`);
    await unlink(file.path);
    execFileSync("mkfifo", [file.path]);
    await expect(file.update()).rejects.toThrow("is not a regular file");
  });

  it("never returns bytes of a replaced file for an indexed row", async () => {
    const file = await fileWith(`${row(0, 0)}\n${row(0, 1)}\n`);
    const age = new Date(1_700_000_000_000);
    await utimes(file.path, age, age);
    await file.update();
    const searching = file.blocks(0);
    // Same size and modification time: only the content differs.
    await writeFile(file.path, `${row(5, 0)}\n${row(5, 1)}\n`);
    await utimes(file.path, age, age);
    const changed = { code: "VIEWER_FILE_CHANGED" };
    await expect(file.read(0)).rejects.toMatchObject(changed);
    await expect(file.excerpts(1)).rejects.toMatchObject(changed);
    const updating = file.update();
    await expect(file.read(0)).rejects.toMatchObject(changed);
    await updating;
    expect(file.progress).toMatchObject({ rows: 2, generation: 1 });
    expect((await file.read(0)).toString()).toBe(row(5, 0));
    const { value } = await searching.next();
    expect(value?.bytes.toString("utf8", 0, value.lines[0]?.to)).toBe(row(5, 0));
    await truncate(file.path, 10);
    await expect(file.read(1)).rejects.toMatchObject(changed);
    for await (const _ of file.blocks(0));
    await unlink(file.path);
    await file.update();
    await expect(file.read(0)).rejects.toMatchObject(changed);
    expect(file.progress).toMatchObject({ rows: 0, exists: false });
  });

  it("counts rows of any size", async () => {
    const long = row(1, 1, { padding: "x".repeat(70 * 1024 * 1024) });
    const file = await fileWith(`${row(0, 0)}\n${long}\n${row(2, 1)}\n`);
    expect(file.columns.length).toBe(3);
    expect([0, 1, 2].map((place) => file.columns.reward(place))).toEqual([0, 1, 1]);
    expect(file.columns.bytes(1)).toBe(long.length);
  });

  describe("the stored index", () => {
    const many = (from: number, count: number) =>
      Array.from(
        { length: count },
        (_, place) => `${row(from + place, place % 4, { padding: "y".repeat(4000) })}\n`,
      ).join("");
    const opened = async (name: string) => {
      const file = new RolloutFile(name);
      onTestFinished(() => file.close());
      await file.update();
      return file;
    };
    const facts = ({ columns }: RolloutFile) =>
      Array.from({ length: columns.length }, (_, place) => [
        columns.offset(place),
        columns.task(place),
        columns.reward(place),
        columns.agent(place),
        columns.isReadable(place),
      ]);

    it("restores the same rows, also after the file has grown", async () => {
      const first = await fileWith(`${many(0, 2500)}{bad\n`);
      const stored = await readFile(indexPath(first.path));
      expect(stored.length).toBeLessThan(2501 * 120);
      expect(facts(await opened(first.path))).toEqual(facts(first));
      await appendFile(first.path, many(9000, 3));
      const grown = await opened(first.path);
      expect(grown.columns.length).toBe(2504);
      expect(grown.columns.task(2503)).toBe(9002);
      expect((await grown.read(2503)).toString()).toContain('"_ng_task_index":9002');
    });

    it("is ignored when the file was replaced", async () => {
      const first = await fileWith(many(0, 2500));
      await writeFile(first.path, many(5000, 2500));
      expect((await opened(first.path)).columns.task(0)).toBe(5000);
    });

    it("is rebuilt when it is damaged", async () => {
      const first = await fileWith(many(0, 2500));
      const { size } = await stat(indexPath(first.path));
      await truncate(indexPath(first.path), size - 8);
      expect(facts(await opened(first.path))).toEqual(facts(first));
      await writeFile(indexPath(first.path), "nonsense");
      expect((await opened(first.path)).columns.length).toBe(2500);
    });
  });
});
