import { createReadStream, createWriteStream } from "node:fs";
import { open, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, inflateRawSync } from "node:zlib";
import { DatasetError } from "../errors.ts";
import { CODE_PAGE_437 } from "./encoded-text.ts";
import { dumpSqlite } from "./sqlite-dump.ts";

const BLOCK = 512;
/** A larger member is rejected. */
const MAX_MEMBER_BYTES = 512 * 1024 * 1024;

export interface ArchiveMember {
  readonly name: string;
  readonly text: string;
}

export interface ArchiveOptions {
  readonly wanted?: (name: string) => boolean;
  /** How bytes become `text`. `sqlite` is the dump of a database; only folders have it. */
  readonly encoding?: "utf8" | "base64" | "sqlite";
  readonly signal?: AbortSignal;
}

type Wanted = Required<Omit<ArchiveOptions, "signal">> & Pick<ArchiveOptions, "signal">;
type WantedBytes = Wanted & { readonly encoding: "utf8" | "base64" };

/** The regular files of a tar or zip archive (in order) or of a folder (by name). */
export async function* readArchive(
  file: string,
  { wanted = () => true, encoding = "utf8", signal }: ArchiveOptions = {},
): AsyncGenerator<ArchiveMember> {
  if ((await stat(file)).isDirectory()) {
    yield* readFolder(file, { wanted, encoding, signal });
    return;
  }
  if (encoding === "sqlite")
    throw new DatasetError("BENCHMARK_SOURCE", `${file} is an archive; databases are read from a folder.`);
  const options = { wanted, encoding, signal };
  const handle = await open(file, "r");
  const magic = Buffer.alloc(4);
  await handle.read(magic, 0, 4, 0);
  await handle.close();
  if (magic.readUInt16BE(0) === GZIP_MAGIC) {
    // Members are read by position, which a compressed file does not have.
    const unpacked = `${file}.tar`;
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(unpacked), { signal });
    yield* readTar(unpacked, options);
    await rm(unpacked);
    return;
  }
  yield* magic.toString("latin1").startsWith("PK") ? readZip(file, options) : readTar(file, options);
}

const GZIP_MAGIC = 0x1f8b;

async function* readFolder(
  folder: string,
  { wanted, encoding, signal }: Wanted,
): AsyncGenerator<ArchiveMember> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
    .filter(wanted)
    .sort();
  for (const name of names) {
    const file = path.join(folder, name);
    if (encoding === "sqlite") {
      yield { name, text: await dumpSqlite(file, signal) };
      continue;
    }
    if ((await stat(file)).size > MAX_MEMBER_BYTES) throw damaged(file, "it is too large");
    yield { name, text: await readFile(file, { encoding, signal }) };
  }
}

async function* readTar(
  file: string,
  { wanted, encoding, signal }: WantedBytes,
): AsyncGenerator<ArchiveMember> {
  const handle = await open(file, "r");
  try {
    const { size: end } = await handle.stat();
    const header = Buffer.alloc(BLOCK);
    for (let at = 0; at + BLOCK <= end; ) {
      signal?.throwIfAborted();
      await handle.read(header, 0, BLOCK, at);
      // The archive ends with blocks of zeros.
      if (header[0] === 0) return;
      const { name, size, isFile } = readHeader(header, file);
      at += BLOCK;
      if (isFile && wanted(name)) {
        if (size > MAX_MEMBER_BYTES || at + size > end) throw damaged(file, `the member ${name} is damaged`);
        const content = Buffer.alloc(size);
        await handle.read(content, 0, size, at);
        yield { name, text: content.toString(encoding) };
      }
      at += Math.ceil(size / BLOCK) * BLOCK;
    }
  } finally {
    await handle.close();
  }
}

function readHeader(header: Buffer, file: string): { name: string; size: number; isFile: boolean } {
  const field = (start: number, length: number) =>
    header
      .subarray(start, start + length)
      .toString("latin1")
      .replace(/\0.*$/s, "");
  const size = Number.parseInt(field(124, 12).trim() || "0", 8);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged(file, "it is not a tar archive");
  const prefix = field(257, 5) === "ustar" ? field(345, 155) : "";
  const name = prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`;
  return { name: name.replace(/^\.\//, ""), size, isFile: field(156, 1) === "0" || field(156, 1) === "" };
}

const END_OF_DIRECTORY = Buffer.from("PK\u0005\u0006", "latin1");
/** The directory is at the end, before a comment of at most 64 KiB. */
const MAX_TAIL = 22 + 0xffff;
const METHODS = {
  0: (bytes: Buffer) => bytes,
  8: (bytes: Buffer) => inflateRawSync(bytes, { maxOutputLength: MAX_MEMBER_BYTES }),
};

async function* readZip(
  file: string,
  { wanted, encoding, signal }: WantedBytes,
): AsyncGenerator<ArchiveMember> {
  const handle = await open(file, "r");
  const read = async (start: number, length: number) => {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, start);
    if (bytesRead < length) throw damaged(file, "the archive is cut off");
    return bytes;
  };
  try {
    const { size } = await handle.stat();
    const tail = await read(Math.max(0, size - MAX_TAIL), Math.min(size, MAX_TAIL));
    const end = tail.lastIndexOf(END_OF_DIRECTORY);
    if (end < 0) throw damaged(file, "it is not a zip archive, or it is cut off");
    const directory = await read(tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
    for (let at = 0; at < directory.length; ) {
      signal?.throwIfAborted();
      const method = directory.readUInt16LE(at + 10);
      const packed = directory.readUInt32LE(at + 20);
      const nameLength = directory.readUInt16LE(at + 28);
      const offset = directory.readUInt32LE(at + 42);
      const isUtf8 = (directory.readUInt16LE(at + 8) & 0x800) !== 0;
      const name = memberName(directory.subarray(at + 46, at + 46 + nameLength), isUtf8);
      at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
      if (name.endsWith("/") || !wanted(name)) continue;
      const unpack = METHODS[method as 0 | 8];
      if (unpack === undefined || packed > MAX_MEMBER_BYTES)
        throw damaged(file, `the member ${name} cannot be read`);
      const header = await read(offset, 30);
      const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
      yield { name, text: unpack(await read(start, packed)).toString(encoding) };
    }
  } finally {
    await handle.close();
  }
}

/** Names without the UTF-8 mark are written in code page 437. */
function memberName(bytes: Buffer, isUtf8: boolean): string {
  if (isUtf8) return bytes.toString("utf8");
  return Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : CODE_PAGE_437[byte - 128],
  ).join("");
}

function damaged(file: string, what: string): DatasetError {
  return new DatasetError("BENCHMARK_SOURCE", `${file}: ${what}.`);
}
