import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WandbServer } from "../../../tests/support/wandb-server.ts";
import { RunExporters } from "./run-exporters.ts";
import { WandbExporter } from "./wandb.ts";
import { crc32, WandbLog } from "./wandb-log.ts";

const apiKey = "wb-verysecret";
let directory: string;
let server: WandbServer;
let warnings: string[];

beforeEach(async () => {
  warnings = [];
  directory = await mkdtemp(join(tmpdir(), "gym-wandb-"));
  server = await new WandbServer({ apiKey }).start();
});
afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

/** Reads the log as its description says: header, blocks, checksums, parts. */
async function readLog(path: string): Promise<Buffer[]> {
  const bytes = await readFile(path);
  expect(bytes.subarray(0, 4).toString()).toBe(":W&B");
  expect(bytes.readUInt16LE(4)).toBe(0xbee1);
  expect(bytes[6]).toBe(0);
  const records: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let at = 7; at < bytes.length; ) {
    const room = 32_768 - (at % 32_768);
    if (room < 7) {
      expect(bytes.subarray(at, at + room).every((byte) => byte === 0)).toBe(true);
      at += room;
      continue;
    }
    const length = bytes.readUInt16LE(at + 4);
    const type = bytes[at + 6];
    const data = bytes.subarray(at + 7, at + 7 + length);
    expect(length + 7).toBeLessThanOrEqual(room);
    expect(bytes.readUInt32LE(at)).toBe(crc32(Buffer.concat([Uint8Array.of(type ?? 0), data])));
    if (type === 1 || type === 2) expect(parts).toEqual([]);
    parts.push(data);
    if (type === 1 || type === 4) {
      records.push(Buffer.concat(parts));
      parts = [];
    }
    at += 7 + length;
  }
  expect(parts).toEqual([]);
  return records;
}

type Field = { field: number; value: Buffer | number };

/** Protocol buffers with varints and length-delimited fields. */
function fields(bytes: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if ((tag & 7) === 0) found.push({ field: tag >>> 3, value: varint() });
    else {
      expect(tag & 7).toBe(2);
      const length = varint();
      found.push({ field: tag >>> 3, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return found;
}

const sub = (bytes: Buffer, field: number) =>
  fields(bytes)
    .filter((entry) => entry.field === field)
    .map(({ value }) => value as Buffer);
const text = (bytes: Buffer, field: number) => sub(bytes, field)[0]?.toString();
const pairs = (bytes: Buffer, field: number) =>
  Object.fromEntries(sub(bytes, field).map((item) => [text(item, 1), JSON.parse(text(item, 16) ?? "")]));

function exporter(online: boolean, more: { apiKey?: string } = {}) {
  return new WandbExporter({
    project: "gym",
    runName: "first run",
    directory,
    config: { limit: 5, wandb_api_key: "****", nested: { a: [1] } },
    startedAt: new Date(2026, 0, 31, 12, 0, 0),
    runId: "abcd1234",
    onWarning: (warning) => warnings.push(warning),
    ...(online && {
      access: {
        baseUrl: server.url,
        apiKey: more.apiKey ?? apiKey,
        retries: { attempts: 2, baseDelayMs: 1, maxDelayMs: 2 },
      },
    }),
  });
}

async function* rows(...texts: string[]) {
  yield* texts;
}

async function runThrough(one: WandbExporter) {
  const exporters = new RunExporters([one], { onWarning: (warning) => warnings.push(warning) });
  await exporters.metrics({ "agent/mean/reward": 0.5, "agent/note": "x", "agent/none": null });
  await exporters.rollouts(() => rows('{"reward":1}'));
  return exporters.close();
}

describe("WandbExporter", () => {
  it("writes a run that the client of the service can upload", async () => {
    const places = await runThrough(exporter(false));
    const place = join(directory, "offline-run-20260131_120000-abcd1234");
    expect(places).toEqual([
      { exporter: "Weights & Biases", place: `${place} (upload it with \`wandb sync\`)` },
    ]);
    const records = (await readLog(join(place, "run-abcd1234.wandb"))).map((record) => {
      const [number, body] = fields(record);
      return { number: number?.value, field: body?.field ?? 0, body: body?.value as Buffer };
    });
    expect(records.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(records.map(({ field }) => field)).toEqual([21, 17, 2, 6, 2, 3, 18, 22]);
    const [, run, history, files, table, summary] = records.map(({ body }) => body) as Buffer[];
    if (!run || !history || !files || !table || !summary) throw new Error("records are missing");
    expect([text(run, 1), text(run, 3), text(run, 8)]).toEqual(["abcd1234", "gym", "first run"]);
    expect(pairs(sub(run, 4)[0] ?? run, 1)).toEqual({
      limit: 5,
      wandb_api_key: "****",
      nested: { a: [1] },
    });
    expect(pairs(history, 1)).toMatchObject({ "agent/mean/reward": 0.5, "agent/none": null, _step: 0 });
    const path = text(sub(files, 1)[0] ?? files, 1) ?? "";
    expect(path).toMatch(/^media\/table\/Rollouts_1_[0-9a-f]{20}\.table\.json$/);
    const content = await readFile(join(place, "files", path), "utf8");
    expect(JSON.parse(content)).toEqual({ columns: ["Rollout"], data: [['{"reward":1}']] });
    expect(pairs(table, 1)["Rollouts"]).toMatchObject({
      _type: "table-file",
      path,
      nrows: 1,
      ncols: 1,
      size: content.length,
    });
    expect(pairs(summary, 1)).toMatchObject({ "agent/mean/reward": 0.5, _step: 1 });
    expect(warnings).toEqual([]);
  });

  it("sends the run if there is a key", async () => {
    const places = await runThrough(exporter(true));
    expect(places).toEqual([{ exporter: "Weights & Biases", place: `${server.url}/ada/gym/runs/abcd1234` }]);
    const run = server.runs.get("ada/gym/abcd1234");
    expect(run).toMatchObject({ displayName: "first run", exitCode: 0 });
    expect(run?.config["limit"]).toEqual({ value: 5 });
    expect(run?.history.map((line) => JSON.parse(line)["agent/mean/reward"])).toEqual([0.5, undefined]);
    const [name, content] = [...(run?.files ?? [])][0] ?? [];
    expect(name).toMatch(/^media\/table\/Rollouts_1_/);
    expect(JSON.parse(run?.summary ?? "")).toMatchObject({
      "agent/mean/reward": 0.5,
      Rollouts: { _type: "table-file", path: name, size: content?.length },
    });
    expect(await readdir(directory)).toEqual(["run-20260131_120000-abcd1234"]);
    // The address for uploads is signed; the key has no business there unless it is the service itself.
    expect(warnings).toEqual([]);
  });

  it("keeps the run on disk if the service rejects it, and never shows the key", async () => {
    const places = await runThrough(exporter(true, { apiKey: "wrong-verysecret" }));
    expect(places[0]?.place).toContain("offline-run-20260131_120000-abcd1234");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^Weights & Biases: 401 from 127.*user is not logged in.*kept in .*wandb sync/,
    );
    expect(warnings[0]).not.toContain("verysecret");
    const records = await readLog(
      join(directory, "offline-run-20260131_120000-abcd1234", "run-abcd1234.wandb"),
    );
    expect(records).toHaveLength(8);
  });
});

describe("WandbLog", () => {
  it("splits records at block borders and pads blocks", async () => {
    const path = join(directory, "log");
    const log = new WandbLog(path);
    // Leaves 3 bytes of the first block, then spans several.
    const sizes = [32_768 - 7 - 7 - 3, 100_000, 0, 32_768 - 7, 5];
    const records = sizes.map((size, index) => Buffer.alloc(size, index + 1));
    for (const record of records) log.append(record);
    log.close();
    expect(await readLog(path)).toEqual(records);
    expect(crc32(Buffer.from("123456789"))).toBe(0xcbf43926);
  });
});
