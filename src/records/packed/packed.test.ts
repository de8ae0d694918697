import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { writeBoardRun } from "../../../scripts/viewer/board-runs.ts";
import { readBoard } from "../board/read-board.ts";
import { compareFiles } from "../results/compare-files.ts";
import { packRun } from "./pack-run.ts";
import { PackedRun } from "./packed-run.ts";
import { readRunFile, rolloutsInside, runFileChunks } from "./run-file.ts";
import { verifyPacked } from "./verify-packed.ts";

async function folder(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "packed-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

async function packed(
  directory: string,
  tasks = 12,
): Promise<{ rollouts: string; file: string; digest: string }> {
  const rewards = Array.from({ length: tasks }, (_, task) => [task % 2, 1]);
  const rollouts = await writeBoardRun(path.join(directory, "run"), { rewards });
  const file = path.join(directory, "x.gymrun");
  const { digest } = await packRun(rollouts, file, { gymVersion: "0.1.0" });
  return { rollouts, file, digest };
}

describe("a packed run", () => {
  it("holds the files of the run, byte for byte", async () => {
    const { rollouts, file, digest } = await packed(await folder());
    const inside = rolloutsInside(file);
    expect(await readRunFile(inside, 1e9)).toBe(await readFile(rollouts, "utf8"));
    const verified = await verifyPacked(file);
    expect(verified).toMatchObject({
      digest,
      tasks: 12,
      rollouts: 24,
      reward: { value: 0.75, tasks: 12 },
      coverage: { expected: 24, ok: 24, missing: 0 },
    });
    expect(verified.files.map(({ name, lines }) => [name, lines])).toEqual([
      ["rollouts.jsonl", 24],
      ["rollouts_materialized_inputs.jsonl", 24],
      ["rollouts_manifest.json", 0],
    ]);
  });

  it("reads at any position, across chunks and inside rows longer than a chunk", async () => {
    const directory = await folder();
    const { rollouts, file } = await packed(directory);
    const long = `${JSON.stringify({ _ng_task_index: 99, _ng_rollout_index: 0, reward: 1, text: "é".repeat(1_500_000) })}\n`;
    const text = (await readFile(rollouts, "utf8")).repeat(1) + long + long.replace("99", "98");
    await writeFile(rollouts, text);
    await packRun(rollouts, file, { gymVersion: "0.1.0" });
    const run = PackedRun.open(file);
    const inside = run.file("rollouts.jsonl");
    if (inside === undefined) throw new Error("no rollouts");
    expect(inside.chunks.length).toBeGreaterThan(4);
    const whole = Buffer.from(text);
    for (const position of [0, 1, 1_000_000, 1_048_576, 3_000_000, whole.length - 3, whole.length]) {
      const buffer = Buffer.alloc(50_000);
      const read = run.read(inside, buffer, 0, buffer.length, position);
      expect(buffer.subarray(0, read)).toEqual(whole.subarray(position, position + read));
      expect(read > 0).toBe(position < whole.length);
    }
    const parts: Buffer[] = [];
    for await (const chunk of runFileChunks(rolloutsInside(file), { chunkBytes: 10 })) parts.push(chunk);
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });

  it("is a run of the board and of a comparison, and a copy of its own run", async () => {
    const directory = await folder();
    const { rollouts, file } = await packed(directory);
    const board = await readBoard([directory]);
    expect([board.runs, board.left_out]).toEqual([
      1,
      [expect.objectContaining({ reason: expect.stringContaining("copy") })],
    ]);
    const { common_tasks, difference } = await compareFiles(file, rollouts);
    expect([common_tasks, difference.value]).toEqual([12, 0]);
  });

  describe("with one changed byte", () => {
    let bytes: Buffer;
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(path.join(os.tmpdir(), "packed-"));
      bytes = await readFile((await packed(directory, 3)).file);
      return () => rm(directory, { recursive: true });
    });

    it("is rejected, wherever the byte is", async () => {
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 0x01;
        // Under another name, because a file of the same size and time is not read again.
        const again = path.join(directory, `changed-${at}.gymrun`);
        await writeFile(again, changed);
        await expect(verifyPacked(again), `byte ${at}`).rejects.toMatchObject({
          code: expect.stringMatching(/^ROLLOUT_(?:PACK_DAMAGED|NOT_PACKED)$/),
        });
        await rm(again);
      }
    });

    it("is rejected if it is cut or has more bytes", async () => {
      for (const [name, content] of [
        ["cut", bytes.subarray(0, -1)],
        ["half", bytes.subarray(0, bytes.length / 2)],
        ["more", Buffer.concat([bytes, Buffer.from("x")])],
        ["empty", Buffer.alloc(0)],
      ] as const) {
        const file = path.join(directory, `${name}.gymrun`);
        await writeFile(file, content);
        await expect(verifyPacked(file), name).rejects.toMatchObject({ name: "RolloutFileError" });
      }
    });
  });

  it("rejects other files, and rollouts that are missing", async () => {
    const directory = await folder();
    const file = path.join(directory, "x.gymrun");
    await writeFile(file, "something else");
    await expect(verifyPacked(file)).rejects.toMatchObject({ code: "ROLLOUT_NOT_PACKED" });
    expect((await readBoard([directory])).left_out).toMatchObject([
      { reason: expect.stringContaining("is not a packed run") },
    ]);
    await expect(packRun(path.join(directory, "none.jsonl"), file, { gymVersion: "" })).rejects.toMatchObject(
      {
        code: "ROLLOUT_FILE_MISSING",
      },
    );
  });
});
