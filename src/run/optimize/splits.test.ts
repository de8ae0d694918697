import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { seededNumbers } from "../../records/metrics/seeded-random.ts";
import { makeSplits, SPLITS } from "./splits.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-splits-"));
});
afterEach(() => rm(directory, { recursive: true }));

const row = (question: number) => ({ responses_create_params: { input: `Question ${question}` } });
const rows = (count: number, first = 0) => Array.from({ length: count }, (_, index) => row(first + index));
const options = (notices: string[] = []) => ({
  random: seededNumbers(0),
  onNotice: (text: string) => notices.push(text),
});

async function file(name: string, given: readonly object[]): Promise<string> {
  const place = path.join(directory, name);
  await writeFile(place, given.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return place;
}

it("divides rows without a common one, the same for each seed", async () => {
  const sizes = { train: 10, val: 5, test: 5 };
  const splits = await makeSplits(rows(30), sizes, options());
  const all = SPLITS.flatMap((split) => splits[split].map((task) => JSON.stringify(task.row)));
  expect(new Set(all).size).toBe(20);
  expect(new Set(SPLITS.flatMap((split) => splits[split].map(({ index }) => index))).size).toBe(20);
  expect(await makeSplits(rows(30), sizes, options())).toEqual(splits);
});

it("counts equal rows once", async () => {
  const notices: string[] = [];
  const splits = await makeSplits(
    [...rows(15), ...rows(15)],
    { train: 5, val: 5, test: 5 },
    options(notices),
  );
  expect(SPLITS.map((split) => splits[split].length)).toEqual([5, 5, 5]);
  expect(notices[0]).toContain("15 rows of the input occur more than once");
});

it("takes files, and keeps their rows out of the numbers", async () => {
  const test = await file("test.jsonl", rows(10));
  const splits = await makeSplits(rows(30), { train: 10, val: 10, test }, options());
  const held = new Set(splits.test.map((task) => JSON.stringify(task.row)));
  for (const { row: other } of [...splits.train, ...splits.val])
    expect(held.has(JSON.stringify(other))).toBe(false);
});

it("rejects files that share a row, with its place", async () => {
  const train = await file("train.jsonl", rows(10));
  const val = await file("val.jsonl", rows(10, 9));
  await expect(makeSplits(rows(30, 50), { train, val, test: 5 }, options())).rejects.toThrow(
    /val\.jsonl:1: the row is also in train: .*train\.jsonl:10/,
  );
});

it.each([
  [{ train: 10, val: 10, test: 20 }, "The input has 30 different rows; train 10, val 10, test 20 need 40."],
  [{ train: 2, val: 10, test: 10 }, "The split 'train' has 2 tasks; at least 3 are needed."],
])("rejects %j", async (sizes, message) => {
  await expect(makeSplits(rows(30), sizes, options())).rejects.toThrow(message);
});
