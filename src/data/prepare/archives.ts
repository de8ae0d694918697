import { open } from "node:fs/promises";
import { inflateRawSync } from "node:zlib";
import { DatasetError } from "../errors.ts";

const BLOCK = 512;
/** A larger member is refused. */
const MAX_MEMBER_BYTES = 512 * 1024 * 1024;

export interface ArchiveMember {
  readonly name: string;
  readonly text: string;
}

/** The regular files of a tar or zip archive that match `wanted`, in order. */
export async function* readArchive(
  file: string,
  wanted: (name: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<ArchiveMember> {
  const handle = await open(file, "r");
  const magic = Buffer.alloc(4);
  await handle.read(magic, 0, 4, 0);
  await handle.close();
  yield* magic.toString("latin1").startsWith("PK")
    ? readZip(file, wanted, signal)
    : readTar(file, wanted, signal);
}

async function* readTar(
  file: string,
  wanted: (name: string) => boolean,
  signal?: AbortSignal,
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
        yield { name, text: content.toString("utf8") };
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
  if (!Number.isSafeInteger(size) || size < 0) throw damaged(file, "it is no tar archive");
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
  wanted: (name: string) => boolean,
  signal?: AbortSignal,
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
    if (end < 0) throw damaged(file, "it is no zip archive, or it is cut off");
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
      yield { name, text: unpack(await read(start, packed)).toString("utf8") };
    }
  } finally {
    await handle.close();
  }
}

/** Characters above 127 of code page 437, in which names without the UTF-8 mark are written. */
const CODE_PAGE_437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

function memberName(bytes: Buffer, isUtf8: boolean): string {
  if (isUtf8) return bytes.toString("utf8");
  return Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : CODE_PAGE_437[byte - 128],
  ).join("");
}

function damaged(file: string, what: string): DatasetError {
  return new DatasetError("BENCHMARK_SOURCE", `${file}: ${what}.`);
}
