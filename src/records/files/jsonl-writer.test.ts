import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { writeFileAtomically } from "./atomic-file.ts";
import { JsonlWriter } from "./jsonl-writer.ts";

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "jsonl-writer-"));
  path = join(directory, "deep", "out.jsonl");
});
afterEach(() => rm(directory, { recursive: true }));

const seeded = async (content: string): Promise<void> => {
  await mkdir(join(directory, "deep"), { recursive: true });
  await writeFile(path, content);
};

describe("JsonlWriter", () => {
  it("creates directories and appends in order", async () => {
    const writer = await JsonlWriter.open(path);
    const appended = Array.from({ length: 1000 }, (_, index) => writer.append(`{"n":${index}}`));
    await Promise.all(appended);
    expect((await readFile(path, "utf8")).split("\n").length).toBe(1001);
    await writer.append('{"é":1}');
    await writer.close();
    const text = await readFile(path, "utf8");
    expect(text.split("\n").slice(0, 2)).toEqual(['{"n":0}', '{"n":1}']);
    expect(text.endsWith('{"é":1}\n')).toBe(true);
    expect(writer.size).toBe(Buffer.byteLength(text));
  });

  it.each(["never", "interval", "always"] as const)(
    "has the line in the file when append returns (fsync %s)",
    async (fsync) => {
      const writer = await JsonlWriter.open(path, { fsync, syncIntervalMs: 5 });
      for (let index = 0; index < 20; index++) {
        await writer.append(String(index));
        expect((await readFile(path, "utf8")).endsWith(`${index}\n`)).toBe(true);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      await writer.close();
    },
  );

  it("syncs one at a time, so that none continues after the file is closed", async () => {
    const writer = await JsonlWriter.open(path, { fsync: "interval", syncIntervalMs: 1 });
    const other = await open(path, "r");
    const handles = Object.getPrototypeOf(other) as FileHandle;
    await other.close();
    const { datasync } = handles;
    const running: number[] = [0];
    onTestFinished(() => {
      handles.datasync = datasync;
    });
    handles.datasync = async function (this: FileHandle) {
      running.push((running.at(-1) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 30));
      await datasync.call(this);
      running.push((running.at(-1) ?? 0) - 1);
    };
    for (let index = 0; index < 10; index++) {
      await writer.append(String(index));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await writer.close();
    expect(Math.max(...running)).toBe(1);
    expect(running.at(-1)).toBe(0);
  });

  it("flushes lines to disk on request, with many calls at once", async () => {
    const writer = await JsonlWriter.open(path, { fsync: "never" });
    const syncs = Array.from({ length: 50 }, async (_, index) => {
      await writer.append(String(index));
      await writer.sync();
    });
    await Promise.all(syncs);
    await writer.sync();
    await writer.close();
    expect((await readFile(path, "utf8")).split("\n")).toHaveLength(51);
  });

  it("waits while the queue is full", async () => {
    const writer = await JsonlWriter.open(path, { maxQueuedCharacters: 1000 });
    await Promise.all(Array.from({ length: 500 }, (_, index) => writer.append(`${index}${"x".repeat(99)}`)));
    await writer.close();
    const numbers = (await readFile(path, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => Number.parseInt(line, 10));
    expect(new Set(numbers).size).toBe(500);
  });

  it.each([
    ['{"a":1}\n{"a":', '{"a":1}\n', { kind: "removed", bytes: 5 }],
    ['{"a":1}\n{"a":2}', '{"a":1}\n{"a":2}\n', { kind: "completed", bytes: 7 }],
    ['{"a"', "", { kind: "removed", bytes: 4 }],
    ['{"a":1}\n\0\0\0', '{"a":1}\n', { kind: "removed", bytes: 3 }],
    ['{"a":1}\n', '{"a":1}\n', undefined],
    ["", "", undefined],
  ])("repairs the end of %j", async (content, repaired, report) => {
    await seeded(content);
    const writer = await JsonlWriter.open(path);
    expect(writer.repair).toEqual(report);
    expect(await readFile(path, "utf8")).toBe(repaired);
    await writer.append("{}");
    await writer.close();
    expect(await readFile(path, "utf8")).toBe(`${repaired}{}\n`);
  });

  it("repairs a torn line longer than a block", async () => {
    await seeded(`{"a":1}\n{"b":"${"x".repeat(300_000)}`);
    const writer = await JsonlWriter.open(path);
    await writer.close();
    expect(await readFile(path, "utf8")).toBe('{"a":1}\n');
  });

  it("starts with an empty file on request", async () => {
    await seeded("old\n");
    const writer = await JsonlWriter.open(path, { truncate: true });
    await writer.append("new");
    await writer.close();
    expect(await readFile(path, "utf8")).toBe("new\n");
  });

  it("rejects lines after close, and allows a second close", async () => {
    const writer = await JsonlWriter.open(path);
    await writer.close();
    await writer.close();
    await expect(writer.append("x")).rejects.toMatchObject({ code: "ROLLOUT_WRITER_CLOSED" });
  });

  it("writes what is queued before it closes", async () => {
    const writer = await JsonlWriter.open(path);
    const appended = [writer.append("a"), writer.append("b")];
    await writer.close();
    await Promise.all(appended);
    expect(await readFile(path, "utf8")).toBe("a\nb\n");
  });

  it("reports a full disk", async () => {
    const writer = await JsonlWriter.open("/dev/full");
    await expect(writer.append("x")).rejects.toMatchObject({ code: "ROLLOUT_DISK_FULL", path: "/dev/full" });
    await expect(writer.close()).rejects.toMatchObject({ code: "ROLLOUT_DISK_FULL" });
  });

  it("reports an invalid path", async () => {
    await expect(JsonlWriter.open(directory)).rejects.toMatchObject({ code: "ROLLOUT_FILE_IS_DIRECTORY" });
    await writeFile(join(directory, "file"), "");
    await expect(JsonlWriter.open(join(directory, "file", "out"))).rejects.toThrow(
      /file' is a file; a directory is needed there/,
    );
  });
});

describe("writeFileAtomically", () => {
  it("keeps the old file when the parts fail", async () => {
    const target = join(directory, "file.json");
    await writeFileAtomically(target, ["a", "b"]);
    expect(await readFile(target, "utf8")).toBe("ab");
    async function* failing() {
      yield "c";
      throw new Error("no more");
    }
    await expect(writeFileAtomically(target, failing())).rejects.toThrow("no more");
    expect(await readFile(target, "utf8")).toBe("ab");
    expect((await readdir(dirname(target))).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });
});

describe("a file that another program changes", () => {
  it.each([
    ["deleted", (file: string) => rm(file)],
    ["cut off", (file: string) => truncate(file, 0)],
    ["replaced", (file: string) => rm(file).then(() => writeFile(file, "x".repeat(100)))],
  ])("fails when it was %s", async (what, spoil) => {
    const file = join(directory, "spoilt.jsonl");
    const writer = await JsonlWriter.open(file, { fsync: "never" });
    await writer.append('{"a":1}');
    await spoil(file);
    await writer.append('{"b":2}');
    await expect(writer.close()).rejects.toMatchObject({
      code: "ROLLOUT_FILE_REPLACED",
      message: expect.stringContaining(`was ${what} by another program`),
    });
  });

  it("fails at the next sync, not only on close", async () => {
    const file = join(directory, "synced.jsonl");
    const writer = await JsonlWriter.open(file, { fsync: "always" });
    await writer.append('{"a":1}');
    await rm(file);
    await expect(writer.append('{"b":2}')).rejects.toMatchObject({ code: "ROLLOUT_FILE_REPLACED" });
    await expect(writer.close()).rejects.toMatchObject({ code: "ROLLOUT_FILE_REPLACED" });
  });

  it("accepts a file that grows during a sync", async () => {
    const writer = await JsonlWriter.open(path, { syncIntervalMs: 0 });
    for (let line = 0; line < 1_000; line++) await Promise.all([writer.append("a"), writer.append("b")]);
    await writer.close();
    expect(writer.size).toBe(4_000);
  });
});
