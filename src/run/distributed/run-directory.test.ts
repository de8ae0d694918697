import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ResultHead } from "../queue/store-server.ts";
import { SharedResults, SharedStore, shareRun } from "./run-directory.ts";

const LONG = JSON.stringify({ text: "é".repeat(100_000) });
const ROWS = ['{"number":0}', LONG, '{"number":2}'];

let directory: string;
const head = (task: number): ResultHead => ({
  task,
  rollout: 0,
  attempt: 0,
  at: 0,
  agent: "a",
  worker: "w",
  status: "completed",
});

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), "nemo-gym-shared-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const inputs = join(folder, "inputs.jsonl");
  writeFileSync(inputs, `${ROWS.join("\n")}\n`);
  directory = join(folder, "store", "run1");
  await shareRun(directory, { config: "a: 1\n", inputs });
});

async function taken(results: SharedResults): Promise<[number, string][]> {
  const found: [number, string][] = [];
  await results.take(async ({ task }, line) => found.push([task, line]));
  return found;
}

describe("a shared directory", () => {
  it("returns config and rows of any length", async () => {
    const store = await SharedStore.open(directory, "w1");
    expect(await store.config()).toBe("a: 1\n");
    let offset = 0;
    for (const [task, row] of ROWS.entries()) {
      expect(await store.row([task, 0, 0, offset])).toBe(row);
      offset += Buffer.byteLength(row) + 1;
    }
    await store.close();
  });

  it("returns each result once to each reader", async () => {
    const results = new SharedResults(directory);
    const [one, two] = await Promise.all(["w1", "w2"].map((name) => SharedStore.open(directory, name)));
    await Promise.all([one?.save(head(0), '{"r":0}'), one?.save(head(1), LONG), two?.save(head(2), "")]);
    expect((await taken(results)).sort()).toEqual([
      [0, '{"r":0}'],
      [1, LONG],
      [2, ""],
    ]);
    expect(await taken(results)).toEqual([]);
    await two?.save(head(3), '{"r":3}');
    expect(await taken(results)).toEqual([[3, '{"r":3}']]);
    expect(await taken(new SharedResults(directory))).toHaveLength(4);
    await Promise.all([one?.close(), two?.close()]);
  });

  it("waits for the end of an incomplete result", async () => {
    const file = join(directory, "results/w1.jsonl");
    const results = new SharedResults(directory);
    appendFileSync(file, `${JSON.stringify(head(0))}\n{"r":`);
    expect(await taken(results)).toEqual([]);
    appendFileSync(file, "0}\n");
    expect(await taken(results)).toEqual([[0, '{"r":0}']]);
  });

  it("reports a damaged file, keeps earlier results and reads the other files", async () => {
    appendFileSync(join(directory, "results/w1.jsonl"), `${JSON.stringify(head(0))}\n{}\n{}\nnothing\n`);
    const store = await SharedStore.open(directory, "w2");
    await store.save(head(1), "{}");
    const results = new SharedResults(directory);
    const found: number[] = [];
    const take = () => results.take(async ({ task }) => found.push(task));
    await expect(take()).rejects.toMatchObject({ code: "QUEUE_STORE", message: /w1.jsonl' is damaged/ });
    await take();
    expect(found.sort()).toEqual([0, 1]);
    await store.close();
  });

  it("keeps results when a run is shared again and names an unusable directory", async () => {
    const store = await SharedStore.open(directory, "w1");
    await store.save(head(0), "{}");
    await store.close();
    const inputs = join(directory, "inputs.jsonl");
    await shareRun(directory, { config: "a: 2\n", inputs });
    expect(await taken(new SharedResults(directory))).toEqual([[0, "{}"]]);
    await expect(shareRun(join(inputs, "below"), { config: "", inputs })).rejects.toMatchObject({
      code: "QUEUE_STORE",
      message: expect.stringContaining("cannot be used"),
    });
    await expect(SharedStore.open(join(directory, "elsewhere"), "w1")).rejects.toThrow("ENOENT");
  });
});
