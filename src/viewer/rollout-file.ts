import { type FileHandle, open, stat } from "node:fs/promises";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { fileError, RolloutFileError } from "../rollouts/errors.ts";
import { DatasetPanel } from "./dataset-panel.ts";
import { type ScannedLine, scanLines } from "./line-scanner.ts";
import { RowColumns } from "./row-columns.ts";
import { type RowSummary, summarizeLine } from "./row-summary.ts";

const TAIL_BYTES = 256;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
/** The loop is let go after so much work on one batch. */
const SLICE_MS = 8;

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
  /** The last bytes that were read; others in their place mean that the file was written anew. */
  #tail: Buffer = Buffer.alloc(0);
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
    if (identity !== this.#identity || entry === undefined || entry.size < this.#indexed) await this.#reset();
    if (entry === undefined || identity === undefined) return;
    const seen = `${entry.size}:${entry.mtimeMs}`;
    if (seen === this.#seen) return;
    if (this.#handle && !this.#tail.equals(await this.#readTail(this.#handle))) await this.#reset();
    this.#handle ??= await open(this.path, "r").catch((error: unknown) => {
      throw fileError(error, this.path, "read");
    });
    this.#identity = identity;
    this.#bytes = entry.size;
    await this.#index(this.#handle, signal);
    this.#tail = await this.#readTail(this.#handle);
    this.#seen = seen;
  }

  /** The bytes of a row, at most `limit` of them. */
  async read(row: number, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const handle = this.#handle;
    if (handle === undefined || row >= this.columns.length) throw shorter(this.path);
    const length = Math.min(this.columns.bytes.at(row), limit);
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(buffer, 0, length, this.columns.offset.at(row));
    if (bytesRead < length) throw shorter(this.path);
    return buffer;
  }

  /** The summary of a row, made again from the file. */
  async summary(row: number): Promise<RowSummary> {
    for await (const [line] of scanLines(this.#require(), this.columns.offset.at(row))) {
      if (line) return summarizeLine(line);
    }
    throw shorter(this.path);
  }

  /** The texts of all rows from `from` on, in batches. */
  async *texts(from: number, signal?: AbortSignal): AsyncGenerator<{ row: number; text: string }[]> {
    const { columns } = this;
    if (from >= columns.length) return;
    let row = from;
    for await (const batch of scanLines(this.#require(), columns.offset.at(from), { signal })) {
      const found: { row: number; text: string }[] = [];
      for (const line of batch) {
        if (row >= columns.length || columns !== this.columns) break;
        if (line.offset !== columns.offset.at(row)) continue;
        found.push({ row, text: line.text ?? "" });
        row++;
      }
      yield found;
      if (row >= columns.length || columns !== this.columns) return;
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  #require(): FileHandle {
    if (this.#handle === undefined) throw shorter(this.path);
    return this.#handle;
  }

  async #readTail(handle: FileHandle): Promise<Buffer> {
    const length = Math.min(TAIL_BYTES, this.#indexed);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, this.#indexed - length);
    return buffer.subarray(0, bytesRead);
  }

  async #reset(): Promise<void> {
    if (this.#handle === undefined && this.#indexed === 0) return;
    await this.close();
    this.columns = new RowColumns();
    this.panel = new DatasetPanel();
    this.#identity = "";
    this.#seen = "";
    this.#tail = Buffer.alloc(0);
    this.#bytes = 0;
    this.#indexed = 0;
    this.#tornLine = null;
    this.#awaitsNewline = false;
    this.#generation++;
  }

  async #index(handle: FileHandle, signal?: AbortSignal): Promise<void> {
    if (this.#awaitsNewline) await this.#passNewline(handle);
    let sliceEnds = performance.now() + SLICE_MS;
    for await (const batch of scanLines(handle, this.#indexed, { signal })) {
      for (const line of batch) {
        this.#add(line);
        if (performance.now() < sliceEnds) continue;
        await yieldToLoop();
        signal?.throwIfAborted();
        sliceEnds = performance.now() + SLICE_MS;
      }
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

function shorter(path: string): RolloutFileError {
  return new RolloutFileError("ROLLOUT_FILE_UNREADABLE", path, `'${path}' changed while it was read.`);
}
