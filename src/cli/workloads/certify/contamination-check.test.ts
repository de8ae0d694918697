import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import type { Audit } from "../audit/audit.ts";
import { contaminationCheck } from "./contamination-check.ts";

const row = (input: string) => `${JSON.stringify({ responses_create_params: { input } })}\n`;

it("compares evaluation with training rows, and every row with the files to compare with", async () => {
  const base = mkdtempSync(path.join(tmpdir(), "gym-splits-"));
  try {
    const write = (name: string, texts: readonly string[]) => {
      const file = path.join(base, name);
      writeFileSync(file, texts.map(row).join(""));
      return file;
    };
    const file = write("example.jsonl", ["How many herons nest at the northern shore of the lake?"]);
    const train = write("train.jsonl", [
      "Name a river.",
      "How many herons nest at the northern shore of the lake?",
      "Who built the old harbour wall?",
    ]);
    const validation = write("validation.jsonl", [
      "What is the oldest linden?",
      "who built the old harbour wall",
    ]);
    const splits = [
      { type: "train", file: train },
      { type: "validation", file: validation },
    ];
    const run = (against: string[], given = splits) =>
      contaminationCheck(against).run({ dataset: { file, splits: given } } as unknown as Audit);
    const own = await run([]);
    expect(own.findings.map(({ message }) => message)).toEqual([
      "Row 2 of validation.jsonl is also in train.jsonl:3.",
    ]);
    expect((await run([], [])).skipped).toContain("--against");
    const other = write("other.jsonl", [
      "Nothing of this is known.",
      "Task: What is the oldest linden? Answer in a word.",
    ]);
    const found = await run([other]);
    expect(found.measured).toEqual({ rows: 8, compared: 5, overlapping: 2 });
    expect(found.findings[0]?.message).toBe("Row 1 of validation.jsonl is also in other.jsonl:2.");
    writeFileSync(other, "{broken");
    await expect(run([other])).rejects.toThrow("other.jsonl:1 is not JSON");
  } finally {
    rmSync(base, { recursive: true });
  }
});
