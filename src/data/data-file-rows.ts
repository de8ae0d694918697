import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip, gunzipSync } from "node:zlib";
import { type FileMetaData, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { errorMessage } from "../base/errors.ts";
import { dumpsCompact, loads } from "../base/python/json/door.ts";
import { DatasetError } from "./errors.ts";
import { dataFormat } from "./hub/split-files.ts";
import { splitIntoLines } from "./lines.ts";

/** A JSON array is read into memory. Larger files must be JSON lines or parquet. */
const MAX_JSON_BYTES = 512 * 1024 * 1024;

/** Reads the rows of a data file as JSON text. JSON lines are not changed; blank lines are skipped. */
export async function* readDataFileRows(
  file: string,
  name: string,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  switch (dataFormat(name)) {
    case "parquet":
      for await (const row of readParquetRows(file, signal)) yield dumpsCompact(row);
      break;
    case "json":
      yield* jsonRows(file, name, signal);
      break;
    case "jsonl":
      yield* jsonLines(file, name, signal);
      break;
    default:
      throw new DatasetError("DATASET_ROW_INVALID", `'${name}' is neither JSON, JSON lines nor parquet.`);
  }
}

async function* jsonLines(file: string, name: string, signal?: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const { lines } of splitIntoLines(byteStream(file, name, signal), name)) {
      for (const line of lines) {
        if (line === null) throw new DatasetError("DATASET_ROW_INVALID", "a line is not UTF-8 text");
        if (line.trim() !== "") yield line;
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new DatasetError("DATASET_ROW_INVALID", `'${name}' cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function byteStream(file: string, name: string, signal?: AbortSignal): AsyncIterable<Buffer> {
  const bytes = createReadStream(file, { signal });
  if (!name.endsWith(".gz")) return bytes;
  // The reader gets the errors of both streams through the returned one.
  return pipeline(bytes, createGunzip(), () => {});
}

/** Reads a list of rows, an object with one list of rows (`{"data": […]}`), or JSON lines with the wrong extension. */
async function* jsonRows(file: string, name: string, signal?: AbortSignal): AsyncGenerator<string> {
  if ((await stat(file)).size > MAX_JSON_BYTES) {
    throw new DatasetError(
      "DATASET_ROW_INVALID",
      `'${name}' is too large for a single JSON value; use JSON lines.`,
    );
  }
  const raw = await readFile(file, { signal });
  const text = (name.endsWith(".gz") ? gunzipSync(raw, { maxOutputLength: MAX_JSON_BYTES }) : raw).toString(
    "utf8",
  );
  let value: unknown;
  try {
    value = loads(text, { allowNonFinite: true });
  } catch {
    // Many `.json` files on the hub hold one object per line.
    yield* text.split(/\r?\n/).filter((line) => line.trim() !== "");
    return;
  }
  for (const row of rowsOf(value)) yield dumpsCompact(row);
}

function rowsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return [value];
  const lists = Object.values(value).filter((member) => Array.isArray(member));
  return lists.length === 1 && lists[0] !== undefined ? lists[0] : [value];
}

/** Number of rows to decode at a time. */
const BATCH_ROWS = 2_000;

/** Reads the rows of a parquet file as JSON values, a few thousand at a time. */
async function* readParquetRows(file: string, signal?: AbortSignal): AsyncGenerator<Record<string, unknown>> {
  const handle = await open(file, "r");
  try {
    const source = { byteLength: (await handle.stat()).size, slice: reader(handle) };
    const metadata = await readMetadata(file, source);
    let start = 0;
    for (const group of metadata.row_groups) {
      const end = start + Number(group.num_rows);
      for (let rowStart = start; rowStart < end; rowStart += BATCH_ROWS) {
        signal?.throwIfAborted();
        const rowEnd = Math.min(end, rowStart + BATCH_ROWS);
        const rows = await parquetReadObjects({ file: source, metadata, compressors, rowStart, rowEnd });
        for (const row of rows) yield jsonValue(row) as Record<string, unknown>;
      }
      start = end;
    }
  } finally {
    await handle.close();
  }
}

async function readMetadata(
  file: string,
  source: { byteLength: number; slice: ReturnType<typeof reader> },
): Promise<FileMetaData> {
  try {
    return await parquetMetadataAsync(source);
  } catch (error) {
    throw new DatasetError("DATASET_ROW_INVALID", `'${file}' is not a parquet file: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function reader(handle: FileHandle) {
  return async (start: number, end?: number): Promise<ArrayBuffer> => {
    const size = (end ?? (await handle.stat()).size) - start;
    const bytes = new Uint8Array(size);
    for (let read = 0; read < size; ) {
      const { bytesRead } = await handle.read(bytes, read, size - read, start + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.buffer;
  };
}

/** Converts dates to ISO text, bytes to base64 and 64-bit integers to integers. */
function jsonValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, jsonValue);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(jsonValue);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), jsonValue(item)]));
  if (typeof value !== "object" || value === null) return value === undefined ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonValue(item)]));
}
