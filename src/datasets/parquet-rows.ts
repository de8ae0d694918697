import { type FileHandle, open } from "node:fs/promises";
import { type FileMetaData, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { errorMessage } from "../errors.ts";
import { DatasetError } from "./errors.ts";

/** Rows decoded at a time. */
const BATCH_ROWS = 2_000;

/** The rows of a parquet file as JSON values, a few thousand in memory at a time. */
export async function* readParquetRows(
  file: string,
  signal?: AbortSignal,
): AsyncGenerator<Record<string, unknown>> {
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

/** Parquet knows dates, bytes and 64-bit integers; JSON gets them as ISO text, base64 and integers. */
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
