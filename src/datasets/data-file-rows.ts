import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip, gunzipSync } from "node:zlib";
import { errorMessage } from "../errors.ts";
import { dumpsCompact } from "../python/json/json-dumps.ts";
import { loads } from "../python/json/json-loads.ts";
import { DatasetError } from "./errors.ts";
import { dataFormat } from "./hub/split-files.ts";
import { splitIntoLines } from "./lines.ts";
import { readParquetRows } from "./parquet-rows.ts";

/** A JSON array is read whole; larger files must be JSON lines or parquet. */
const MAX_JSON_BYTES = 512 * 1024 * 1024;

/** The rows of a data file as JSON text, one by one; JSON lines come as they are, blank ones left out. */
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
  // A failure on either side reaches the reader through the stream it iterates.
  return pipeline(bytes, createGunzip(), () => {});
}

/** A list of rows, an object with one list of rows in it (`{"data": […]}`), or JSON lines under the wrong name. */
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
