import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { fileError, RolloutFileError } from "../errors.ts";

/** The first and the last bytes of a packed run. */
export const HEAD = Buffer.from("GYMRUN1\n", "latin1");
export const TAIL = Buffer.from("GYMEND1\n", "latin1");
/** Position and length of the directory, its SHA-256, and the last bytes. */
export const TRAILER_BYTES = 8 + 8 + 32 + TAIL.length;
/** Chunks end after about this many bytes, at the end of a row if there is one. */
export const CHUNK_BYTES = 1024 * 1024;
/** Limits for files from elsewhere. */
const MAX_CHUNK_BYTES = 4 * CHUNK_BYTES;
const MAX_DIRECTORY_BYTES = 256 * 1024 * 1024;
const KEPT_DIRECTORIES = 64;
const KEPT_CHUNKS = 8;

const count = z.number().int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const Chunk = z.object({
  /** Place and length of the compressed bytes (raw deflate) in the packed run. */
  offset: count,
  length: count,
  /** Length of the content, and the number of lines that end in it. */
  bytes: count.max(MAX_CHUNK_BYTES),
  lines: count,
  /** Digest of the compressed bytes. */
  sha256: Sha256,
});

const Directory = z.object({
  format: z.literal(1),
  gym_version: z.string(),
  packed_at: z.string(),
  files: z.array(
    z.object({
      name: z.string().regex(/^[\w.-]{1,200}$/),
      bytes: count,
      lines: count,
      /** Digest of the content. */
      sha256: Sha256,
      chunks: z.array(Chunk),
    }),
  ),
});

export type PackedDirectory = z.infer<typeof Directory>;
export type PackedFile = PackedDirectory["files"][number];
export type PackedChunk = PackedFile["chunks"][number];

/** A packed run whose directory has been read. Its chunks are read and checked when they are needed. */
export class PackedRun {
  readonly path: string;
  readonly directory: PackedDirectory;
  /** SHA-256 of the directory, which contains the digests of everything else. */
  readonly digest: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly #starts = new Map<PackedFile, number[]>();
  readonly #chunks = new Map<PackedChunk, Buffer>();

  private constructor(path: string, parts: Pick<PackedRun, "directory" | "digest" | "size" | "mtimeMs">) {
    this.path = path;
    this.directory = parts.directory;
    this.digest = parts.digest;
    this.size = parts.size;
    this.mtimeMs = parts.mtimeMs;
  }

  /** Opens a packed run, or takes the one that was opened before if its file is the same. */
  static open(path: string): PackedRun {
    const { size, mtimeMs } = statOf(path);
    const known = opened.get(path);
    if (known?.size === size && known.mtimeMs === mtimeMs) return known;
    const run = new PackedRun(path, { ...readDirectory(path, size), size, mtimeMs });
    opened.delete(path);
    opened.set(path, run);
    for (const oldest of opened.keys()) {
      if (opened.size <= KEPT_DIRECTORIES) break;
      opened.delete(oldest);
    }
    return run;
  }

  file(name: string): PackedFile | undefined {
    return this.directory.files.find((file) => file.name === name);
  }

  /** Reads content of a file at a position, like `readSync`: at most to the end of a chunk; 0 at the end. */
  read(file: PackedFile, buffer: Buffer, at: number, length: number, position: number): number {
    const starts = this.#startsOf(file);
    const place = lastAtMost(starts, position);
    const chunk = file.chunks[place];
    if (chunk === undefined || position >= file.bytes) return 0;
    const from = position - (starts[place] ?? 0);
    return this.content(chunk).copy(buffer, at, from, Math.min(chunk.bytes, from + length));
  }

  /** The content of a chunk, checked against its digest. */
  content(chunk: PackedChunk): Buffer {
    const known = this.#chunks.get(chunk);
    if (known) return known;
    const packed = readExactly(this.path, chunk.offset, chunk.length);
    if (sha256(packed) !== chunk.sha256)
      throw damaged(this.path, chunk.offset, "the chunk has another digest");
    let content: Buffer;
    try {
      content = inflateRawSync(packed, { maxOutputLength: Math.max(1, chunk.bytes) });
    } catch (error) {
      throw damaged(this.path, chunk.offset, errorMessage(error));
    }
    if (content.length !== chunk.bytes)
      throw damaged(this.path, chunk.offset, "the chunk has another length");
    this.#chunks.set(chunk, content);
    for (const oldest of this.#chunks.keys()) {
      if (this.#chunks.size <= KEPT_CHUNKS) break;
      this.#chunks.delete(oldest);
    }
    return content;
  }

  #startsOf(file: PackedFile): number[] {
    const known = this.#starts.get(file);
    if (known) return known;
    let start = 0;
    const starts = file.chunks.map(({ bytes }) => {
      start += bytes;
      return start - bytes;
    });
    this.#starts.set(file, starts);
    return starts;
  }
}

const opened = new Map<string, PackedRun>();

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

export function damaged(path: string, offset: number, problem: string): RolloutFileError {
  return new RolloutFileError(
    "ROLLOUT_PACK_DAMAGED",
    path,
    `'${path}' is damaged at byte ${offset}: ${problem}.`,
  );
}

function statOf(path: string): { size: number; mtimeMs: number } {
  try {
    return statSync(path);
  } catch (error) {
    throw fileError(error, path, "read");
  }
}

function readDirectory(path: string, size: number): { directory: PackedDirectory; digest: string } {
  const head = readExactly(path, 0, Math.min(size, HEAD.length));
  if (!head.equals(HEAD))
    throw new RolloutFileError(
      "ROLLOUT_NOT_PACKED",
      path,
      `'${path}' is not a packed run of this format: it does not begin with GYMRUN1.`,
    );
  const trailerAt = size - TRAILER_BYTES;
  if (trailerAt < HEAD.length) throw damaged(path, size, "the end is missing");
  const trailer = readExactly(path, trailerAt, TRAILER_BYTES);
  if (!trailer.subarray(-TAIL.length).equals(TAIL)) throw damaged(path, size, "the end is missing");
  const offset = Number(trailer.readBigUInt64LE(0));
  const length = Number(trailer.readBigUInt64LE(8));
  if (offset + length !== trailerAt || length > MAX_DIRECTORY_BYTES)
    throw damaged(path, trailerAt, "the directory is not where it should be");
  const bytes = readExactly(path, offset, length);
  const digest = sha256(bytes);
  if (digest !== trailer.toString("hex", 16, 48))
    throw damaged(path, offset, "the directory has another digest");
  try {
    return { directory: Directory.parse(JSON.parse(bytes.toString("utf8"))), digest };
  } catch (error) {
    throw damaged(path, offset, `the directory cannot be read: ${errorMessage(error)}`);
  }
}

function readExactly(path: string, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    let read = 0;
    while (read < length) {
      const more = readSync(file, buffer, read, length - read, offset + read);
      if (more === 0) throw damaged(path, offset + read, "the file ends here");
      read += more;
    }
    return buffer;
  } catch (error) {
    throw fileError(error, path, "read");
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The place of the last number that is at most `value`; numbers ascend. */
function lastAtMost(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
