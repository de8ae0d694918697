import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ScannedLine, scanLines } from "./line-scanner.ts";

async function scan(content: string | Buffer, options: { from?: number; maxLineBytes?: number } = {}) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(path.join(directory, "a.jsonl"), content);
  const file = await open(path.join(directory, "a.jsonl"));
  const lines: ScannedLine[] = [];
  try {
    for await (const batch of scanLines(file, options.from ?? 0, options)) lines.push(...batch);
  } finally {
    await file.close();
  }
  return lines;
}

describe("scanLines", () => {
  it("gives place, length and text of every line, whatever ends it", async () => {
    expect(await scan("é\n\r\nab\r\ncd")).toEqual([
      { offset: 0, length: 2, end: 3, text: "é", problem: undefined, terminated: true },
      { offset: 3, length: 0, end: 5, text: "", problem: undefined, terminated: true },
      { offset: 5, length: 2, end: 9, text: "ab", problem: undefined, terminated: true },
      { offset: 9, length: 2, end: 11, text: "cd", problem: undefined, terminated: false },
    ]);
    expect(await scan("")).toEqual([]);
    expect(await scan("ab\ncd\n", { from: 3 })).toMatchObject([{ offset: 3, text: "cd", terminated: true }]);
  });

  it("joins lines that are longer than what is read at once", async () => {
    const long = "x".repeat(1_300_000);
    const lines = await scan(`a\n${long}\nb\n${long}`);
    expect(lines.map(({ text }) => text?.length)).toEqual([1, long.length, 1, long.length]);
    expect(lines.map(({ offset }) => offset)).toEqual([0, 2, 1_300_003, 1_300_005]);
  });

  it("lists a line beyond the limit without reading it, and goes on behind it", async () => {
    const lines = await scan(`a\n${"x".repeat(3_000_000)}\nb\n`, { maxLineBytes: 600_000 });
    expect(lines).toMatchObject([
      { text: "a" },
      { text: undefined, length: 3_000_000, problem: expect.stringContaining("longer than 1 MB") },
      { text: "b", offset: 3_000_003 },
    ]);
    const last = await scan("x".repeat(3_000_000), { maxLineBytes: 600_000 });
    expect(last).toMatchObject([{ text: undefined, length: 3_000_000, terminated: false }]);
  });

  it("names bytes that are no text", async () => {
    expect(await scan(Buffer.from([0x61, 0xff, 0x0a, 0x62, 0x0a]))).toMatchObject([
      { text: undefined, problem: "the line is not valid UTF-8" },
      { text: "b" },
    ]);
  });
});
