import { open } from "node:fs/promises";

const BLOCK = 512;
/** A larger member is not a table of questions. */
const MAX_MEMBER_BYTES = 64 * 1024 * 1024;

/** The regular files of an uncompressed tar archive that match `wanted`, in order. */
export async function* readTar(
  file: string,
  wanted: (name: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<{ name: string; text: string }> {
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
        if (size > MAX_MEMBER_BYTES || at + size > end)
          throw new Error(`${file}: the member ${name} is damaged`);
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
  if (!Number.isSafeInteger(size) || size < 0) throw new Error(`${file} is no tar archive`);
  const prefix = field(257, 5) === "ustar" ? field(345, 155) : "";
  const name = prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`;
  return { name: name.replace(/^\.\//, ""), size, isFile: field(156, 1) === "0" || field(156, 1) === "" };
}
