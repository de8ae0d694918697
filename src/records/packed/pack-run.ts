import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";
import { fileChunks, replaceWith } from "../../base/files/door.ts";
import { fileError, RolloutFileError } from "../errors.ts";
import { annotationsPath } from "../files/annotations.ts";
import { artifactPaths, healthReports } from "../files/artifact-paths.ts";
import { readLines } from "../files/jsonl-rows.ts";
import { IMAGE_FOLDER, imagesOf } from "../files/row-images.ts";
import { CHUNK_BYTES, HEAD, type PackedDirectory, type PackedFile, sha256, TAIL } from "./packed-run.ts";
import { rolloutsInside } from "./run-file.ts";

const compress = promisify(deflateRaw);
const NEWLINE = 0x0a;
/** The files of a run whose rows can have images. */
const ROW_FILES = /^rollouts(?:_failures|_materialized_inputs|_late_results)?\.jsonl$/;

export interface PackOptions {
  /** The version of the program, for the directory of the packed run. */
  gymVersion: string;
  /** Called with the number of bytes that were read. */
  onProgress?: (bytes: number) => void;
  signal?: AbortSignal;
}

export interface PackedResult {
  path: string;
  bytes: number;
  /** SHA-256 of the directory, which contains the digests of everything else. */
  digest: string;
  files: { name: string; bytes: number; lines: number }[];
}

/** Packs the files of a run into one file: rows in compressed chunks, and a directory with their places and digests. */
export async function packRun(rollouts: string, output: string, options: PackOptions): Promise<PackedResult> {
  const before = await seenAt(rollouts);
  const files = await filesToPack(rollouts);
  try {
    const result = await replaceWith(output, (partial) => writePack(partial, files, options));
    if ((await seenAt(rollouts)) !== before) throw changing(rollouts);
    return { path: output, ...result };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : fileError(error, output, "write");
  }
}

function changing(rollouts: string): RolloutFileError {
  return new RolloutFileError(
    "ROLLOUT_PACK_CHANGING",
    rollouts,
    `'${rollouts}' changed while it was packed. Wait until the run has ended, and pack it again.`,
  );
}

async function seenAt(file: string): Promise<string> {
  const entry = await stat(file).catch((error: unknown) => {
    throw fileError(error, file, "read");
  });
  return `${entry.size}:${entry.mtimeMs}`;
}

/** The files of a run that exist, by their names in a packed run. Logs stay out: they name paths and machines. */
async function filesToPack(rollouts: string): Promise<{ name: string; path: string }[]> {
  const inside = rolloutsInside("");
  const names = Object.values(artifactPaths(inside)).map((file) => path.basename(file));
  const found = Object.values(artifactPaths(rollouts)).map((file, place) => ({
    name: names[place] ?? "",
    path: file,
  }));
  found.push({ name: path.basename(annotationsPath(inside)), path: annotationsPath(rollouts) });
  const { verdicts, summary } = await healthReports(rollouts);
  for (const file of [verdicts, summary])
    if (!found.some((one) => one.path === file)) found.push({ name: path.basename(file), path: file });
  const exists = await Promise.all(
    found.map(async (one) => (await stat(one.path).catch(() => undefined))?.isFile() === true),
  );
  const files = found.filter((_, place) => exists[place]);
  return [...files, ...(await imagesToPack(files.filter(({ name }) => ROW_FILES.test(name))))];
}

/** The images that the rows of some files refer to. */
async function imagesToPack(files: readonly { path: string }[]): Promise<{ name: string; path: string }[]> {
  const images = new Map<string, string>();
  for (const { path: file } of files)
    for await (const { text } of readLines(file, { keepReferences: true }))
      for (const name of imagesOf(text)) images.set(name, path.join(path.dirname(file), IMAGE_FOLDER, name));
  for (const image of images.values())
    if (!(await stat(image).catch(() => undefined))?.isFile()) throw missingImage(image);
  return Array.from(images, ([name, image]) => ({ name, path: image }));
}

function missingImage(image: string): RolloutFileError {
  return new RolloutFileError("ROLLOUT_IMAGE_MISSING", image, `'${image}' does not exist; rows refer to it.`);
}

async function writePack(
  partial: string,
  files: readonly { name: string; path: string }[],
  { gymVersion, onProgress, signal }: PackOptions,
): Promise<Omit<PackedResult, "path">> {
  const handle = await open(partial, "wx");
  try {
    let at = 0;
    const write = async (bytes: Buffer) => {
      await handle.writeFile(bytes);
      at += bytes.length;
    };
    await write(HEAD);
    const packed: PackedFile[] = [];
    let read = 0;
    for (const { name, path: source } of files) {
      const whole = createHash("sha256");
      const file: PackedFile = { name, bytes: 0, lines: 0, sha256: "", chunks: [] };
      for await (const content of chunksOf(source, signal)) {
        whole.update(content);
        const bytes = await compress(content);
        const lines = linesIn(content);
        const place = {
          offset: at,
          length: bytes.length,
          bytes: content.length,
          lines,
          sha256: sha256(bytes),
        };
        file.chunks.push(place);
        file.bytes += content.length;
        file.lines += lines;
        await write(bytes);
        read += content.length;
        onProgress?.(read);
      }
      file.sha256 = whole.digest("hex");
      packed.push(file);
    }
    const directory: PackedDirectory = {
      format: 1,
      gym_version: gymVersion,
      packed_at: new Date().toISOString(),
      files: packed,
    };
    const text = Buffer.from(JSON.stringify(directory));
    const trailer = Buffer.alloc(48);
    trailer.writeBigUInt64LE(BigInt(at), 0);
    trailer.writeBigUInt64LE(BigInt(text.length), 8);
    trailer.write(sha256(text), 16, "hex");
    await write(text);
    await write(Buffer.concat([trailer, TAIL]));
    await handle.datasync();
    const about = packed.map(({ name, bytes, lines }) => ({ name, bytes, lines }));
    return { bytes: at, digest: sha256(text), files: about };
  } finally {
    await handle.close();
  }
}

/** The content of a file in pieces that end with a line, if lines are not longer than a piece. */
async function* chunksOf(file: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of fileChunks(file, { chunkBytes: CHUNK_BYTES, signal })) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1 || bytes.length;
    if (end < CHUNK_BYTES / 2 && bytes.length < CHUNK_BYTES) {
      rest = bytes;
      continue;
    }
    yield bytes.subarray(0, end);
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) yield rest;
}

function linesIn(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
