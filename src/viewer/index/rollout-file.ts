import { isUtf8 } from "node:buffer";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { openRunFile, type RunFileHandle, statRunFile } from "../../records/door.ts";
import { fileError, RolloutFileError } from "../../records/errors.ts";
import { FileChangedError } from "../errors.ts";
import { type Block, type BlockLine, MAX_INDEXED_BYTES, readBlocks } from "./blocks.ts";
import { EXCERPT_BYTES, excerptAt } from "./excerpts.ts";
import { filled, indexPath, readIndex, writeIndex } from "./index-file.ts";
import { SkimError } from "./json-skimmer.ts";
import { RowColumns, type RowFacts } from "./row-columns.ts";
import { RowSkim } from "./row-skim.ts";

const MARK_BYTES = 256;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
/** Yields to the event loop after this much work on one block. */
const SLICE_MS = 8;
/** Smaller files are read quickly enough without an index. */
const LEAST_INDEXED_BYTES = 8 * 1024 * 1024;

/** The end of a row that was read, and its offset. */
interface Mark {
  offset: number;
  bytes: Buffer;
}

/** The progress of the viewer with a file. */
export interface FileProgress {
  path: string;
  exists: boolean;
  bytes: number;
  indexedBytes: number;
  rows: number;
  /** Line of an incomplete last row: being written, or interrupted by a crash. */
  tornLine: number | null;
  /** Incremented when the file was replaced, so that row numbers refer to other rows. */
  generation: number;
  /** When the file was last written. */
  mtimeMs: number;
}

/**
 * A JSONL file that may still grow; every line is a row, so row `n` is on line `n + 1`. `update` reads new rows. Memory
 * holds the position and the facts of every row; single rows are read from the file on demand. The index of a large
 * file is stored next to it.
 */
export class RolloutFile {
  readonly path: string;
  columns = new RowColumns();
  #handle: RunFileHandle | undefined;
  readonly #skim = new RowSkim();
  /** Distinguishes a new file of the same name from the one that was read. */
  #identity = "";
  /** From the last row that was read; different bytes at its offset mean that the file was replaced. */
  #mark: Mark | undefined;
  /** The file was found to be replaced; the next update starts from its beginning. */
  #isStale = false;
  /** Size and modification time at the last check; nothing is read until they change. */
  #seen = "";
  #bytes = 0;
  #mtimeMs = 0;
  #indexed = 0;
  /** Bytes that the stored index covers. */
  #stored = 0;
  #generation = 0;
  #tornLine: number | null = null;
  /** Whether the last row was at the end of the file without its newline. */
  #awaitsNewline = false;

  constructor(path: string) {
    this.path = path;
  }

  get progress(): FileProgress {
    return {
      path: this.path,
      exists: this.#handle !== undefined,
      bytes: this.#bytes,
      indexedBytes: this.#indexed,
      rows: this.columns.length,
      tornLine: this.#tornLine,
      generation: this.#generation,
      mtimeMs: this.#mtimeMs,
    };
  }

  /**
   * Reads the rows added since the last call; a file that became shorter or was replaced is read from its start. `onRows` is called when
   * there are rows and more follow.
   */
  async update(signal?: AbortSignal, onRows?: () => void): Promise<void> {
    const entry = await statRunFile(this.path);
    // Opening a pipe would block until another process writes to it.
    if (entry && !entry.isFile)
      throw new RolloutFileError(
        "ROLLOUT_FILE_UNREADABLE",
        this.path,
        `'${this.path}' is not a regular file.`,
      );
    const identity = entry?.identity;
    const isOther = identity !== this.#identity || entry === undefined || entry.size < this.#indexed;
    if (isOther || this.#isStale) await this.#reset();
    if (entry === undefined || identity === undefined) return;
    const seen = `${entry.size}:${entry.mtimeMs}`;
    if (seen === this.#seen) return;
    if (this.#handle && !(await hasMark(this.#handle, this.#mark))) await this.#reset();
    const isNew = this.#handle === undefined;
    this.#handle ??= await openRunFile(this.path).catch((error: unknown) => {
      throw fileError(error, this.path, "read");
    });
    this.#identity = identity;
    this.#bytes = entry.size;
    this.#mtimeMs = entry.mtimeMs;
    if (isNew && entry.size >= LEAST_INDEXED_BYTES) await this.#restore(this.#handle, entry);
    await this.#index(this.#handle, signal, onRows);
    this.#seen = seen;
    // Written again when the indexed part has grown by a quarter, not with every row of a running run.
    if (this.#indexed >= LEAST_INDEXED_BYTES && this.#indexed > this.#stored * 1.25) await this.#store();
  }

  /**
   * The bytes of a row, at most `limit`, from `from` on. The file may be replaced at any time; the bytes are then not of
   * that row.
   */
  async read(row: number, limit = Number.POSITIVE_INFINITY, from = 0): Promise<Buffer> {
    const handle = this.#handle;
    const mark = this.#mark;
    if (handle === undefined || row >= this.columns.length) throw new FileChangedError(this.path);
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(this.columns.bytes(row) - from, limit)));
    try {
      const isComplete = await filled(handle, this.columns.offset(row) + from, bytes);
      if (isComplete && (await hasMark(handle, mark)) && this.#holds(handle)) return bytes;
    } catch (error) {
      if (this.#holds(handle)) throw error;
    }
    if (this.#holds(handle)) this.#isStale = true;
    throw new FileChangedError(this.path);
  }

  /** The beginning of the last question and of the last answer. */
  async excerpts(row: number): Promise<{ prompt: string; answer: string }> {
    const { columns } = this;
    const [prompt, answer] = await Promise.all(
      [columns.promptAt(row), columns.answerAt(row)].map(async (at) =>
        Number.isNaN(at) ? "" : excerptAt(await this.read(row, EXCERPT_BYTES, at)),
      ),
    );
    return { prompt: prompt ?? "", answer: answer ?? "" };
  }

  /** Blocks of whole rows from row `from` on; stops early when the file is replaced. */
  async *blocks(from: number, signal?: AbortSignal): AsyncGenerator<Block & { firstRow: number }> {
    const { columns } = this;
    const handle = this.#handle;
    if (handle === undefined || from >= columns.length) return;
    let row = from;
    const blocks = readBlocks(handle, columns.offset(from), signal);
    for (;;) {
      const next = await blocks.next().catch((error: unknown) => {
        if (this.#holds(handle)) throw error;
      });
      if (!next || next.done || !this.#holds(handle)) break;
      const lines = next.value.lines.slice(0, columns.length - row);
      // Rows are not at their indexed offsets: the file was replaced.
      if (lines[0]?.offset !== columns.offset(row)) break;
      yield { bytes: next.value.bytes, lines, firstRow: row };
      row += lines.length;
      if (row >= columns.length) return;
    }
    // The file ends before the last indexed row.
    if (this.#holds(handle)) this.#isStale = true;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Whether a handle is still that of the file; it is closed when the file was replaced. */
  #holds(handle: RunFileHandle): boolean {
    return this.#handle === handle;
  }

  async #reset(): Promise<void> {
    this.#isStale = false;
    if (this.#handle === undefined && this.#indexed === 0) return;
    const handle = this.#handle;
    // Without an await in between: callers must not see the rows of one file with the handle of another.
    this.#handle = undefined;
    this.columns = new RowColumns();
    this.#identity = "";
    this.#seen = "";
    this.#mark = undefined;
    this.#bytes = 0;
    this.#indexed = 0;
    this.#stored = 0;
    this.#tornLine = null;
    this.#awaitsNewline = false;
    this.#generation++;
    await handle?.close();
  }

  /** Uses the stored index if it matches this file: unchanged, or with rows appended. */
  async #restore(handle: RunFileHandle, entry: { size: number; mtimeMs: number }): Promise<void> {
    const stored = await readIndex(indexPath(this.path));
    if (stored === undefined || stored.columns.length === 0) return;
    const { indexed, bytes, mtimeMs, mark, awaitsNewline } = stored.file;
    const isUnchanged = entry.size === bytes && entry.mtimeMs === mtimeMs;
    if (!isUnchanged && entry.size <= bytes) return;
    const found = mark && { offset: mark.offset, bytes: Buffer.from(mark.base64, "base64") };
    if (found === undefined || !(await hasMark(handle, found))) return;
    this.columns = stored.columns;
    this.#indexed = indexed;
    this.#stored = indexed;
    this.#mark = found;
    this.#awaitsNewline = awaitsNewline;
  }

  async #store(): Promise<void> {
    if (this.#mark === undefined) return;
    const { offset, bytes } = this.#mark;
    const mark = { offset, base64: bytes.toString("base64") };
    const file = { indexed: this.#indexed, bytes: this.#bytes, mtimeMs: this.#mtimeMs, mark };
    await writeIndex(indexPath(this.path), { ...file, awaitsNewline: this.#awaitsNewline }, this.columns);
    // If it could not be written, it is not tried again for every row.
    this.#stored = this.#indexed;
  }

  async #index(handle: RunFileHandle, signal?: AbortSignal, onRows?: () => void): Promise<void> {
    if (this.#awaitsNewline) await this.#passNewline(handle);
    let sliceEnds = performance.now() + SLICE_MS;
    for await (const { bytes, lines } of readBlocks(handle, this.#indexed, signal)) {
      if (!(await hasMark(handle, this.#mark))) {
        this.#isStale = true;
        return;
      }
      if (this.columns.length > 0) onRows?.();
      const isText = isUtf8(bytes);
      for (const line of lines) {
        const isGood =
          line.length <= MAX_INDEXED_BYTES && (isText || isUtf8(bytes.subarray(line.from, line.to)));
        this.#add(line, isGood ? this.#factsOf(bytes, line) : undefined);
        if (performance.now() < sliceEnds) continue;
        await yieldToLoop();
        signal?.throwIfAborted();
        sliceEnds = performance.now() + SLICE_MS;
      }
      this.#mark = lastMark(bytes, lines, this.#indexed) ?? this.#mark;
    }
  }

  #factsOf(bytes: Buffer, { from, to }: BlockLine): RowFacts | undefined {
    try {
      return this.#skim.read(bytes, from, to);
    } catch (error) {
      if (error instanceof SkimError) return undefined;
      throw error;
    }
  }

  #add(line: BlockLine, facts: RowFacts | undefined): void {
    if (!line.terminated && facts === undefined) {
      this.#tornLine = this.columns.length + 1;
      return;
    }
    this.#tornLine = null;
    this.#indexed = line.end;
    this.#bytes = Math.max(this.#bytes, this.#indexed);
    this.#awaitsNewline = !line.terminated;
    this.columns.push(line, facts);
  }

  /** Skips the newline of a row that was read before its newline was written. */
  async #passNewline(handle: RunFileHandle): Promise<void> {
    const next = Buffer.alloc(2);
    const { bytesRead } = await handle.read(next, 0, 2, this.#indexed);
    const ended = next[0] === NEWLINE ? 1 : next[0] === RETURN && next[1] === NEWLINE ? 2 : 0;
    if (bytesRead === 0 || ended === 0) return;
    this.#indexed += ended;
    this.#awaitsNewline = false;
  }
}

/** The end of the last non-blank row before `indexed`. */
function lastMark(bytes: Buffer, lines: readonly BlockLine[], indexed: number): Mark | undefined {
  const last = lines.findLast(({ end, from, to }) => end <= indexed && to > from);
  if (last === undefined) return undefined;
  const from = Math.max(last.from, last.to - MARK_BYTES);
  const end = last.offset + last.length;
  return { offset: end - (last.to - from), bytes: Buffer.from(bytes.subarray(from, last.to)) };
}

async function hasMark(handle: RunFileHandle, mark: Mark | undefined): Promise<boolean> {
  if (mark === undefined) return true;
  const { length } = mark.bytes;
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, mark.offset);
  return bytesRead === length && mark.bytes.equals(buffer);
}
