import { type FileHandle, open } from "node:fs/promises";
import { replaceWith } from "../../base/files/door.ts";
import type { RunFileHandle } from "../../records/door.ts";
import { sidecarPath } from "../../records/files/door.ts";
import { RowColumns, type StoredColumns } from "./row-columns.ts";

const MAGIC = "NGIDX006";
const HEAD_BYTES = MAGIC.length + 4;
const MAX_DESCRIPTION_BYTES = 64 * 1024 * 1024;
const MAX_INDEX_BYTES = 4 * 1024 * 1024 * 1024;

/** The file, and its bytes, that an index covers. */
export interface IndexedFile {
  /** Number of indexed bytes, in whole rows. */
  indexed: number;
  /** Size and modification time of the file at that time. */
  bytes: number;
  mtimeMs: number;
  /** The last bytes of the last row, and their offset; different bytes mean a different file. */
  mark: { offset: number; base64: string } | undefined;
  awaitsNewline: boolean;
}

type Description = StoredColumns & { file: IndexedFile };

/** Path of the index of a rollouts file. */
export function indexPath(rollouts: string): string {
  return sidecarPath(rollouts, "_index", ".bin");
}

/** Reads an index; undefined if it does not exist or has another format. */
export async function readIndex(
  path: string,
): Promise<{ file: IndexedFile; columns: RowColumns } | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    const { size } = await handle.stat();
    const head = await readAt(handle, 0, HEAD_BYTES);
    if (head?.toString("latin1", 0, MAGIC.length) !== MAGIC || size > MAX_INDEX_BYTES) return undefined;
    const length = head.readUInt32LE(MAGIC.length);
    if (length > MAX_DESCRIPTION_BYTES) return undefined;
    const text = await readAt(handle, HEAD_BYTES, length);
    if (text === undefined) return undefined;
    const description = JSON.parse(text.toString("utf8")) as Description;
    let at = HEAD_BYTES + length;
    if (at + RowColumns.storedBytes(description) !== size) return undefined;
    const file = handle;
    const columns = await RowColumns.restored(description, async (bytes) => {
      const part = new ArrayBuffer(bytes);
      if (!(await filled(file, at, Buffer.from(part)))) throw new Error("the index ends early");
      at += bytes;
      return part;
    });
    return { file: description.file, columns };
  } catch {
    // The rollouts can be read without an index, so all errors are ignored.
    return undefined;
  } finally {
    await handle?.close();
  }
}

/** Writes an index next to the rollouts; false if that is not possible, for example in another user's directory. */
export async function writeIndex(path: string, file: IndexedFile, columns: RowColumns): Promise<boolean> {
  const { description, parts } = columns.stored();
  const text = Buffer.from(JSON.stringify({ ...description, file } satisfies Description));
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(text.length, MAGIC.length);
  try {
    await replaceWith(path, async (partial) => {
      // `wx` refuses to follow a link that another user placed there.
      const handle = await open(partial, "wx", 0o600);
      await handle.writev([head, text, ...parts]).finally(() => handle.close());
    });
    return true;
  } catch {
    return false;
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer | undefined> {
  const buffer = Buffer.allocUnsafe(length);
  return (await filled(handle, position, buffer)) ? buffer : undefined;
}

/** Reads until the buffer is full; false if the file ends before. */
export async function filled(
  handle: Pick<RunFileHandle, "read">,
  position: number,
  buffer: Buffer,
): Promise<boolean> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, position + length);
    if (bytesRead === 0) return false;
    length += bytesRead;
  }
  return true;
}
