import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RowSelection, selectRows } from "./select-rows.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-select-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const rows = [
  { id: 1, level: "hard", verifier_metadata: { task_id: "x/1" } },
  { id: 1, level: "hard", verifier_metadata: { task_id: "x/1" } },
  { id: 2, level: "easy" },
  { id: 3 },
  { id: 4, level: "hard", points: 7 },
];

async function selected(selection: RowSelection) {
  const input = path.join(base, "rows.jsonl");
  writeFileSync(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const { path: file, lineOf } = await selectRows(input, selection, base);
  const chosen = readFileSync(file, "utf8").trimEnd().split("\n");
  const ids = chosen.map((line) => (JSON.parse(line) as { id: number }).id);
  return { ids, lines: chosen.map((_, index) => lineOf(index + 1)) };
}

it("keeps rows that meet a condition, with their repeats and lines", async () => {
  expect(await selected({ where: 'level == "hard"' })).toEqual({ ids: [1, 1, 4], lines: [1, 2, 5] });
  expect((await selected({ where: "points is not none and points > 5" })).ids).toEqual([4]);
  expect((await selected({ where: 'task_id == "x/1"' })).ids).toEqual([1, 1]);
});

it("keeps rows by id", async () => {
  expect((await selected({ ids: ["x/1", "3"] })).ids).toEqual([1, 1, 3]);
  await expect(selected({ ids: ["3", "9"] })).rejects.toThrow("has the id '9' (--ids)");
});

it("draws tasks, the same ones with the same seed", async () => {
  const { ids } = await selected({ sample: 2, seed: 7 });
  expect(new Set(ids).size).toBe(2);
  expect((await selected({ sample: 2, seed: 7 })).ids).toEqual(ids);
  expect((await selected({ sample: 9 })).ids).toEqual([1, 1, 2, 3, 4]);
});

it.each([
  ['levl == "hard"', "no row has the field 'levl'; did you mean 'level'?"],
  ["level ==", "--where 'level =='"],
  ['level = "hard"', "Write == to compare."],
  ["id > level", "line 1: int and str have no order"],
  ["id > 100", "No row of"],
])("rejects %j", async (where, message) => {
  await expect(selected({ where })).rejects.toThrow(message);
});
