import { type FileHandle, open, stat } from "node:fs/promises";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { fileError } from "../rollouts/errors.ts";
import { DatasetPanel } from "./dataset-panel.ts";
import { FileChangedError } from "./errors.ts";
import { type ScannedLine, scanLines } from "./line-scanner.ts";
import { RowColumns } from "./row-columns.ts";
import { type RowSummary, summarizeLine } from "./row-summary.ts";

const MARK_BYTES = 256;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
/** The loop is let go after so much work on one batch. */
const SLICE_MS = 8;

/** The end of a row that was read, and where it stood. */
interface Mark {
  offset: number;
  bytes: Buffer;
}

/** How far the viewer is with a file. */
export interface FileProgress {
  path: string;
  exists: boolean;
  bytes: number;
  indexedBytes: number;
  rows: number;
  /** Line of a last row that is not complete: being written, or cut off by a crash. */
  tornLine: number | null;
  /** Grows when the file was replaced, so that row numbers mean other rows. */
  generation: number;
}

/**
 * A JSONL file that may still grow; every line is a row, so that row `n` stands on line `n + 1`. `update` reads what is new; what stays in memory is the place and the summary of every row,
 * and single rows are read from the file when somebody looks at them.
 */
export class RolloutFile {
  readonly path: string;
  columns = new RowColumns();
  panel = new DatasetPanel();
  #handle: FileHandle | undefined;
  /** Tells a new file of the same name from the one that was read. */
  #identity = "";
  /** From the last row that was read; other bytes in its place mean that the file was written anew. */
  #mark: Mark | undefined;
  /** Somebody found the file written anew; the next update begins from its start. */
  #isStale = false;
  /** Size and time of change at the last look; nothing is read before they differ. */
  #seen = "";
  #bytes = 0;
  #indexed = 0;
  #generation = 0;
  #tornLine: number | null = null;
  /** The last row stood at the end of the file without its newline. */
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
    };
  }

  /** Reads what was added since the last time; a file that became shorter or is another one is read anew. */
  async update(signal?: AbortSignal): Promise<void> {
    const entry = await stat(this.path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw fileError(error, this.path, "read");
    });
    const identity = entry && `${entry.dev}:${entry.ino}`;
    const isOther = identity !== this.#identity || entry === undefined || entry.size < this.#indexed;
    if (isOther || this.#isStale) await this.#reset();
    if (entry === undefined || identity === undefined) return;
    const seen = `${entry.size}:${entry.mtimeMs}`;
    if (seen === this.#seen) return;
    if (this.#handle && !(await hasMark(this.#handle, this.#mark))) await this.#reset();
    this.#handle ??= await open(this.path, "r").catch((error: unknown) => {
      throw fileError(error, this.path, "read");
    });
    this.#identity = identity;
    this.#bytes = entry.size;
    await this.#index(this.#handle, signal);
    this.#seen = seen;
  }

  /** The bytes of a row, at most `limit` of them. */
  read(row: number, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
    return this.#reading(row, async (handle, offset) => {
      const length = Math.min(this.columns.bytes.at(row), limit);
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, offset);
      return bytesRead < length ? undefined : buffer;
    });
  }

  /** The summary of a row, made again from the file. */
  summary(row: number): Promise<RowSummary> {
    return this.#reading(row, async (handle, offset) => {
      for await (const [line] of scanLines(handle, offset)) if (line) return summarizeLine(line);
      return undefined;
    });
  }

  /** The texts of all rows from `from` on, in batches; they end early when the file is written anew. */
  async *texts(from: number, signal?: AbortSignal): AsyncGenerator<{ row: number; text: string }[]> {
    const { columns } = this;
    const handle = this.#handle;
    if (handle === undefined || from >= columns.length) return;
    let row = from;
    const batches = scanLines(handle, columns.offset.at(from), { signal });
    for (;;) {
      const next = await batches.next().catch((error: unknown) => {
        if (this.#holds(handle)) throw error;
      });
      if (!next || next.done || !this.#holds(handle)) break;
      const found: { row: number; text: string }[] = [];
      for (const line of next.value) {
        if (row >= columns.length) break;
        if (line.offset !== columns.offset.at(row)) continue;
        found.push({ row, text: line.text ?? "" });
        row++;
      }
      yield found;
      if (row >= columns.length) return;
    }
    // It ends before the last row that was indexed.
    if (this.#holds(handle)) this.#isStale = true;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Whether a handle is still the one of the file; it is closed when the file was written anew. */
  #holds(handle: FileHandle): boolean {
    return this.#handle === handle;
  }

  /** Reads from the place of a row. The file may be written anew at any moment: then what was read is none of that row. */
  async #reading<T>(
    row: number,
    read: (handle: FileHandle, offset: number) => Promise<T | undefined>,
  ): Promise<T> {
    const handle = this.#handle;
    const mark = this.#mark;
    if (handle === undefined || row >= this.columns.length) throw new FileChangedError(this.path);
    try {
      const found = await read(handle, this.columns.offset.at(row));
      if (found !== undefined && (await hasMark(handle, mark)) && this.#holds(handle)) return found;
    } catch (error) {
      if (this.#holds(handle)) throw error;
    }
    if (this.#holds(handle)) this.#isStale = true;
    throw new FileChangedError(this.path);
  }

  async #reset(): Promise<void> {
    this.#isStale = false;
    if (this.#handle === undefined && this.#indexed === 0) return;
    const handle = this.#handle;
    // All at once, before anything is waited for: nobody may meet the rows of one file and the handle of another.
    this.#handle = undefined;
    this.columns = new RowColumns();
    this.panel = new DatasetPanel();
    this.#identity = "";
    this.#seen = "";
    this.#mark = undefined;
    this.#bytes = 0;
    this.#indexed = 0;
    this.#tornLine = null;
    this.#awaitsNewline = false;
    this.#generation++;
    await handle?.close();
  }

  async #index(handle: FileHandle, signal?: AbortSignal): Promise<void> {
    if (this.#awaitsNewline) await this.#passNewline(handle);
    let sliceEnds = performance.now() + SLICE_MS;
    for await (const batch of scanLines(handle, this.#indexed, { signal })) {
      if (!(await hasMark(handle, this.#mark))) {
        this.#isStale = true;
        return;
      }
      for (const line of batch) {
        this.#add(line);
        if (performance.now() < sliceEnds) continue;
        await yieldToLoop();
        signal?.throwIfAborted();
        sliceEnds = performance.now() + SLICE_MS;
      }
      this.#mark = lastMark(batch, this.#indexed) ?? this.#mark;
    }
  }

  #add(line: ScannedLine): void {
    const summary = summarizeLine(line);
    if (!line.terminated && summary.state === "unreadable") {
      this.#tornLine = this.columns.length + 1;
      return;
    }
    this.#tornLine = null;
    this.#indexed = line.end;
    this.#bytes = Math.max(this.#bytes, this.#indexed);
    this.#awaitsNewline = !line.terminated;
    this.columns.push(summary, line);
    if (summary.observed) this.panel.observe(summary.observed.row, summary.observed.params);
  }

  /** The newline of a row that was read before it was written. */
  async #passNewline(handle: FileHandle): Promise<void> {
    const next = Buffer.alloc(2);
    const { bytesRead } = await handle.read(next, 0, 2, this.#indexed);
    const ended = next[0] === NEWLINE ? 1 : next[0] === RETURN && next[1] === NEWLINE ? 2 : 0;
    if (bytesRead === 0 || ended === 0) return;
    this.#indexed += ended;
    this.#awaitsNewline = false;
  }
}

/** The end of the last row before `indexed` that has any text. */
function lastMark(batch: readonly ScannedLine[], indexed: number): Mark | undefined {
  const last = batch.findLast(({ end, text }) => end <= indexed && text);
  if (last?.text === undefined) return undefined;
  const bytes = Buffer.from(Buffer.from(last.text).subarray(-MARK_BYTES));
  return { offset: last.offset + last.length - bytes.length, bytes };
}

async function hasMark(handle: FileHandle, mark: Mark | undefined): Promise<boolean> {
  if (mark === undefined) return true;
  const { length } = mark.bytes;
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, mark.offset);
  return bytesRead === length && mark.bytes.equals(buffer);
}
