import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { FaultServer } from "../../../tests/support/fault-server.ts";
import type { HubRepository } from "../../../tests/support/hub-repository.ts";
import { type HubServer, startHubServer } from "../../../tests/support/hub-server.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { downloadHubSplit, downloadHubSplits } from "./hub-split-download.ts";

const repository = "acme/sums";
let hub: HubServer;
let repo: HubRepository;
let directory: string;
let access: HubAccess;

beforeEach(async () => {
  hub = await startHubServer({ pageSize: 2 });
  repo = hub.addRepository(repository);
  directory = await mkdtemp(path.join(tmpdir(), "gym-splits-"));
  access = { hubUrl: hub.url, retries: { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 } };
});

afterEach(async () => {
  await hub.close();
  await rm(directory, { recursive: true, force: true });
});

const target = () => path.join(directory, "out", "train.jsonl");
const download = (split = "train", configName?: string) =>
  downloadHubSplit(access, { repository, split, configName }, target());

function parquet(rows: { question: string; id: bigint; score: number; tags: string[] | null }[]): Buffer {
  return Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: "question", data: rows.map((row) => row.question), type: "STRING" },
        { name: "id", data: rows.map((row) => row.id), type: "INT64" },
        { name: "score", data: rows.map((row) => row.score), type: "DOUBLE" },
        { name: "extra", data: rows.map((row) => ({ tags: row.tags })), type: "JSON" },
      ],
      rowGroupSize: 2,
    }),
  );
}

describe("downloadHubSplit", () => {
  it("reports an address that is not a hub", async () => {
    const other = await new FaultServer((_, response) => void response.end("{}")).start();
    onTestFinished(() => other.close());
    access = { ...access, hubUrl: other.url };
    await expect(download()).rejects.toMatchObject({
      code: "REMOTE_UNEXPECTED_ANSWER",
      message: expect.stringContaining("does not answer like the hub"),
    });
  });

  it("joins the JSON lines of a split, plain or compressed, and adds missing line ends", async () => {
    repo.put("train-1.jsonl", '{"a": 1}\n\n{"a": "\u2028"}');
    repo.put("train-2.jsonl.gz", gzipSync('{"a": 3}\r\n'), { lfs: true });
    repo.put("test.jsonl", '{"a": 9}\n');
    expect(await download()).toBe(3);
    expect(await readFile(target(), "utf8")).toBe('{"a": 1}\n{"a": "\u2028"}\n{"a": 3}\n');
    expect(await readdir(path.dirname(target()))).toEqual(["train.jsonl"]);
  });

  it("reads a JSON list, a list in an object, and JSON lines with the extension json", async () => {
    repo.put("train-1.json", '[{"a": 1.0}, {"a": 2}]');
    repo.put("train-2.json", '{"version": 1, "data": [{"a": 12345678901234567890}]}');
    repo.put("train-3.json", '{"a": 4}\n{"a": 5}\n');
    expect(await download()).toBe(5);
    expect(await readFile(target(), "utf8")).toBe(
      '{"a":1.0}\n{"a":2}\n{"a":12345678901234567890}\n{"a": 4}\n{"a": 5}\n',
    );
  });

  it("reads parquet", async () => {
    const rows = [
      { question: "Où ?", id: 1n, score: 0.5, tags: ["a"] },
      { question: "two", id: 2n ** 60n, score: 2, tags: null },
      { question: "three", id: 3n, score: -1.25, tags: [] },
    ];
    repo.put("data/train-00000-of-00001.parquet", parquet(rows), { lfs: true });
    expect(await download()).toBe(3);
    expect(await readFile(target(), "utf8")).toBe(
      '{"question":"Où ?","id":1,"score":0.5,"extra":{"tags":["a"]}}\n' +
        `{"question":"two","id":${2n ** 60n},"score":2,"extra":{"tags":null}}\n` +
        '{"question":"three","id":3,"score":-1.25,"extra":{"tags":[]}}\n',
    );
  });

  it("falls back to the conversion of the hub", async () => {
    repo.put("train.csv", "question\nhi\n");
    const file = parquet([{ question: "hi", id: 1n, score: 1.5, tags: null }]);
    repo.parquet.set("default", new Map([["train", [file, file]]]));
    expect(await download()).toBe(2);
    await expect(download("validation")).rejects.toThrow("has no split 'validation'");
  });

  it("asks for the config of a conversion", async () => {
    const file = parquet([{ question: "hi", id: 1n, score: 1.5, tags: null }]);
    repo.parquet.set("easy", new Map([["train", [file]]]));
    repo.parquet.set("hard", new Map([["train", [file]]]));
    await expect(download()).rejects.toThrow("several configs: easy, hard");
    expect(await download("train", "hard")).toBe(1);
  });

  it("lists the available splits", async () => {
    repo.put("test.jsonl", '{"a": 9}\n');
    await expect(download()).rejects.toMatchObject({
      code: "DATASET_MISSING",
      message: expect.stringContaining("splits found: test."),
    });
  });

  it("keeps downloaded parts after a failure, but no partial result", async () => {
    repo.put("train-1.jsonl", '{"a": 1}\n');
    repo.put("train-2.jsonl", '{"a": 2}\n');
    hub.fail({ match: /train-2/, status: 500, times: 3 });
    await expect(download()).rejects.toMatchObject({ code: "REMOTE_FAILED" });
    expect(existsSync(target())).toBe(false);
    expect(await download()).toBe(2);
  });

  it("leaves no empty folder if nothing was downloaded", async () => {
    repo.put("train.jsonl", '{"a": 1}\n');
    hub.fail({ match: /resolve\/main\/train/, status: 404 });
    await expect(download()).rejects.toMatchObject({ code: "REMOTE_NOT_FOUND" });
    expect(existsSync(`${target()}.parts`)).toBe(false);
  });

  it("names a corrupted file", async () => {
    repo.put("train.jsonl.gz", gzipSync("x".repeat(1000)).subarray(0, 20));
    await expect(download()).rejects.toThrow("'train.jsonl.gz' cannot be read: ");
    repo.files("main")?.clear();
    repo.put("train.parquet", "not parquet at all");
    await expect(download()).rejects.toThrow("is not a parquet file");
  });
});

describe("downloadHubSplits", () => {
  it("writes a file for each split", async () => {
    repo.put("README.md", "# card");
    repo.put("train.jsonl", '{"a": 1}\n');
    repo.put("test.jsonl", '{"a": 2}\n{"a": 3}\n');
    const written = await downloadHubSplits(access, { repository }, directory);
    expect(written.map(({ split, rows }) => [split, rows])).toEqual([
      ["test", 2],
      ["train", 1],
    ]);
    expect(await readFile(path.join(directory, "test.jsonl"), "utf8")).toBe('{"a": 2}\n{"a": 3}\n');
  });

  it("rejects a repository without data", async () => {
    repo.put("README.md", "# card");
    await expect(downloadHubSplits(access, { repository }, directory)).rejects.toThrow("contains no JSON");
  });
});
