import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type JsonlLine,
  type JsonlReadOptions,
  type ReadRowsOptions,
  type Row,
  readLines,
  readRows,
} from "./jsonl-rows.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "jsonl-reader-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function lines(content: string | Buffer, options?: JsonlReadOptions): Promise<JsonlLine[]> {
  const path = join(directory, "in.jsonl");
  await writeFile(path, content);
  return collect(readLines(path, options));
}

async function rows(content: string, options?: ReadRowsOptions): Promise<Row[]> {
  const path = join(directory, "in.jsonl");
  await writeFile(path, content);
  return (await collect(readRows(path, options))).map(({ row }) => row);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const result: Item[] = [];
  for await (const item of items) result.push(item);
  return result;
}

describe("readLines", () => {
  it("returns text, number, offset and whether the line ends with a newline", async () => {
    expect(await lines("é\r\n\nlast")).toEqual([
      { text: "é", number: 1, offset: 0, byteLength: 4, terminated: true },
      { text: "", number: 2, offset: 4, byteLength: 1, terminated: true },
      { text: "last", number: 3, offset: 5, byteLength: 4, terminated: false },
    ]);
    expect(await lines("")).toEqual([]);
    expect((await lines("\n")).map((line) => line.text)).toEqual([""]);
  });

  it("joins lines and characters across chunks", async () => {
    const texts = Array.from({ length: 40 }, (_, index) => "漢😀".repeat(index * 2000) + index);
    const read = await lines(texts.map((text) => `${text}\n`).join(""));
    expect(read.map((line) => line.text)).toEqual(texts);
    expect(read.map((line) => line.number)).toEqual(texts.map((_, index) => index + 1));
    expect(read.at(-1)?.offset).toBe(
      Buffer.byteLength(
        texts
          .slice(0, -1)
          .map((text) => `${text}\n`)
          .join(""),
      ),
    );
  });

  it("names file and line of invalid UTF-8 and of lines that are too long", async () => {
    const bad = Buffer.concat([Buffer.from("good\n"), Buffer.from([0xff, 0x0a]), Buffer.from("good\n")]);
    await expect(lines(bad)).rejects.toThrow(/in\.jsonl:2: the line is not valid UTF-8/);
    await expect(lines(`a\n${"x".repeat(5_000_000)}\n`, { maxLineBytes: 1_000_000 })).rejects.toThrow(
      /:2: .* longer than 1 MB/,
    );
    await expect(lines("x".repeat(5_000_000), { maxLineBytes: 1_000_000 })).rejects.toThrow(
      /:1: .* longer than 1 MB/,
    );
  });

  it("reports a missing file and a directory", async () => {
    await expect(collect(readLines(join(directory, "none")))).rejects.toThrow(/does not exist/);
    await expect(collect(readLines(directory))).rejects.toThrow(/is a directory/);
  });

  it.each([
    [[0x1f, 0x8b, 0x08, 0x0a], /:1: the file is compressed with gzip/],
    [[0x28, 0xb5, 0x2f, 0xfd], /:1: the file is compressed with zstd/],
    [[0xff, 0xfe, 0x7b, 0x00], /:1: the file is UTF-16/],
    [[0x7b, 0x0a, 0x1f, 0x8b], /:2: the line is not valid UTF-8/],
  ])("recognizes a file that begins with %j", async (bytes, message) => {
    const path = join(directory, "odd.jsonl");
    await writeFile(path, Buffer.from(bytes));
    await expect(collect(readLines(path))).rejects.toThrow(message);
  });

  it("stops at the signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(lines("a\n", { signal })).rejects.toThrow("enough");
  });
});

describe("readRows", () => {
  it("stops at the limit without reading further", async () => {
    expect(await rows('{"a":1}\n{"a":2}\n{broken\n', { limit: 2 })).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await rows('{"a":1}\n{"a":2}\n', { limit: 0 })).toHaveLength(2);
  });

  it.each([
    ['{"a":1}\n{oops\n', /in\.jsonl:2: the line is not JSON: expected a key/],
    ['{"a":1}\n\n', /in\.jsonl:2: the line is blank/],
    ['{"a":NaN}\n', /NaN is not JSON/],
    ['\uFEFF{"a":1}\n', /in\.jsonl:1: the line begins with a byte order mark/],
    ["[1]\n", /in\.jsonl:1: the row is not a JSON object/],
    ["null\n", /not a JSON object/],
  ])("rejects %j", async (content, message) => {
    await expect(rows(content)).rejects.toThrow(message);
  });

  it("skips blank and torn lines only on request", async () => {
    const torn: number[] = [];
    const options = { skipBlank: true, onTornLine: (line: JsonlLine) => torn.push(line.number) };
    expect(await rows('{"a":1}\n \n{"a":', options)).toEqual([{ a: 1 }]);
    expect(torn).toEqual([3]);
    expect(await rows('{"a":1}\n{"a":2}', options)).toEqual([{ a: 1 }, { a: 2 }]);
    await expect(rows('{"a":\n{"a":1}\n', options)).rejects.toThrow(/:1: the line is not JSON/);
  });
});
