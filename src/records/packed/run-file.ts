import { existsSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { fileChunks } from "../../base/files/door.ts";
import { fileError } from "../errors.ts";
import { type PackedFile, PackedRun } from "./packed-run.ts";

export const PACKED_SUFFIX = ".gymrun";
/** The name of the rollouts in a packed run. */
const ROLLOUTS = "rollouts.jsonl";
const INSIDE = new RegExp(`^(.+\\${PACKED_SUFFIX})[/\\\\]([^/\\\\]+)$`);

/** A file of a run that is open for reading: a file handle, or a file inside a packed run. */
export interface RunFileHandle {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Buffer }>;
  close(): Promise<void>;
}

export interface RunFileStat {
  size: number;
  mtimeMs: number;
  /** Distinguishes a new file of the same name. */
  identity: string;
  isFile: boolean;
}

/** The path of the rollouts in a packed run. Paths below a packed run name the files in it. */
export function rolloutsInside(packed: string): string {
  return path.join(packed, ROLLOUTS);
}

/** The packed run that a path lies in; undefined for other paths. */
export function packedRunOf(file: string): string | undefined {
  const found = INSIDE.exec(file)?.[1];
  return found !== undefined && existsSync(found) && !existsSync(file) ? found : undefined;
}

/** The file inside a packed run; undefined for a path that is not in one, null if the packed run does not have it. */
export function packedFile(file: string): { run: PackedRun; file: PackedFile } | null | undefined {
  const packed = packedRunOf(file);
  if (packed === undefined) return undefined;
  const run = PackedRun.open(packed);
  const found = run.file(path.basename(file));
  return found === undefined ? null : { run, file: found };
}

/** Size and identity of a file of a run; undefined if it does not exist. */
export async function statRunFile(file: string): Promise<RunFileStat | undefined> {
  const packed = packedFile(file);
  if (packed) {
    const { run } = packed;
    return { size: packed.file.bytes, mtimeMs: run.mtimeMs, identity: run.digest, isFile: true };
  }
  if (packed === null) return undefined;
  try {
    const entry = await stat(file);
    const { size, mtimeMs, dev, ino } = entry;
    return { size, mtimeMs, identity: `${dev}:${ino}`, isFile: entry.isFile() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fileError(error, file, "read");
  }
}

export function runFileExists(file: string): boolean {
  const packed = packedFile(file);
  return packed === undefined ? existsSync(file) : packed !== null;
}

/** Opens a file of a run; the error of a missing file has the code ENOENT. */
export async function openRunFile(file: string): Promise<RunFileHandle> {
  const packed = packedFile(file);
  if (packed === undefined) return open(file, "r");
  if (packed === null)
    throw Object.assign(new Error(`ENOENT: no such file in the packed run, '${file}'`), { code: "ENOENT" });
  const { run, file: inside } = packed;
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: run.read(inside, buffer, offset, length, position),
      buffer,
    }),
    close: async () => {},
  };
}

/** The bytes of a file of a run for `lineBatches`. */
export async function* runFileChunks(
  file: string,
  options: { chunkBytes: number; signal?: AbortSignal },
): AsyncGenerator<Buffer> {
  const packed = packedFile(file);
  if (packed) {
    for (const chunk of packed.file.chunks) {
      options.signal?.throwIfAborted();
      yield packed.run.content(chunk);
    }
  } else yield* fileChunks(file, options);
}

/** The text of a small file of a run; undefined when it does not exist or has more than `limit` bytes. */
export async function readRunFile(file: string, limit: number): Promise<string | undefined> {
  const entry = await statRunFile(file);
  if (entry === undefined || !entry.isFile || entry.size > limit) return undefined;
  const parts: Buffer[] = [];
  for await (const chunk of runFileChunks(file, { chunkBytes: 64 * 1024 })) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString("utf8");
}
