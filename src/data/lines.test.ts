import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Line, readTextLines } from "./lines.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-lines-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function linesOf(content: string | Buffer): Promise<Line[]> {
  const file = path.join(directory, "rows.jsonl");
  await writeFile(file, content);
  const lines: Line[] = [];
  for await (const line of readTextLines(file)) lines.push(line);
  return lines;
}

describe("readLines", () => {
  it.each([
    ["", []],
    ["\n", [""]],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\n\nb\n", ["a", "", "b"]],
    ["a\r\nb\r\n", ["a", "b"]],
    ["a\rb\r", ["a", "b"]],
    ["a\r\r", ["a", ""]],
    ["a\r\n\r\nb", ["a", "", "b"]],
    ["é\u2028x\u0085y\n", ["é\u2028x\u0085y"]],
  ])("splits %j", async (content, expected) => {
    expect(await linesOf(content)).toEqual(expected);
  });

  it("joins lines that span several chunks", async () => {
    const long = "é".repeat(400_000);
    expect(await linesOf(`first\n${long}\n${long}b\nlast`)).toEqual(["first", long, `${long}b`, "last"]);
  });

  it("marks lines that are not UTF-8 and keeps the others", async () => {
    const content = Buffer.concat([
      Buffer.from("good\n"),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from("also\r\n\nend"),
    ]);
    expect(await linesOf(content)).toEqual(["good", null, "also", "", "end"]);
  });

  it("returns all lines across chunk boundaries", async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => `{"row": ${index}}`);
    expect(await linesOf(`${rows.join("\n")}\n`)).toEqual(rows);
  });
});
