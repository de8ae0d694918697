import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileError, RolloutFileError } from "../errors.ts";
import { makeOutputDirectory } from "./artifact-paths.ts";
import { type ImageForm, storeImages } from "./row-images.ts";

/** `append` waits while more text than this is queued. */
const MAX_QUEUED_CHARACTERS = 32 * 1024 * 1024;

/** How long written lines may stay in the operating system's cache under the policy `interval`. */
const SYNC_INTERVAL_MS = 2_000;

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * When lines are flushed to disk.
 * - `never`: left to the operating system; a killed process loses nothing, a power failure may lose the last seconds;
 * - `interval`: at most two seconds after they were written, and at the end (default);
 * - `always`: before `append` returns; lines written together are synced together.
 */
export const FSYNC_POLICIES = ["never", "interval", "always"] as const;
export type FsyncPolicy = (typeof FSYNC_POLICIES)[number];

interface JsonlWriterOptions {
  /** Starts with an empty file instead of appending. */
  truncate?: boolean;
  fsync?: FsyncPolicy;
  /** `reference` stores large images of the lines in files (default `inline`). */
  images?: ImageForm;
  maxQueuedCharacters?: number;
  syncIntervalMs?: number;
}

interface Batch {
  text: string;
  done: Promise<void>;
  settle: (error?: unknown) => void;
}

/**
 * Appends lines to a file. Lines that arrive during a write are written together in one call.
 *
 * A failed write leaves no partial line: the file is truncated to its previous size, the lines of that write are
 * rejected with a RolloutFileError, and later ones may succeed.
 */
export class JsonlWriter {
  readonly path: string;
  /** The repair of the end of the file when it was opened. */
  readonly repair: TailRepair | undefined;
  readonly #file: FileHandle;
  readonly #fsync: FsyncPolicy;
  readonly #images: ImageForm;
  readonly #maxQueued: number;
  readonly #syncIntervalMs: number;
  /** Length of the file after its last complete write. */
  #size: number;
  #queue: Batch | undefined;
  #writing: Promise<void> | undefined;
  #dirty = false;
  #syncTimer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  /** Set when the state of the file is unknown. */
  #broken: unknown;
  #closed = false;

  private constructor(
    path: string,
    file: FileHandle,
    size: number,
    repair: TailRepair | undefined,
    options: JsonlWriterOptions,
  ) {
    this.path = path;
    this.repair = repair;
    this.#file = file;
    this.#size = size;
    this.#fsync = options.fsync ?? "interval";
    this.#images = options.images ?? "inline";
    this.#maxQueued = options.maxQueuedCharacters ?? MAX_QUEUED_CHARACTERS;
    this.#syncIntervalMs = options.syncIntervalMs ?? SYNC_INTERVAL_MS;
  }

  /** Opens a file for appending and creates it and its directories; repairs a torn last line first. */
  static async open(path: string, options: JsonlWriterOptions = {}): Promise<JsonlWriter> {
    let file: FileHandle | undefined;
    try {
      await makeOutputDirectory(dirname(path));
      // Appends even to a new file: after a failed write has been truncated, the next one must go to the new end.
      const { O_RDWR, O_CREAT, O_APPEND, O_TRUNC } = constants;
      file = await open(path, O_RDWR | O_CREAT | O_APPEND | (options.truncate ? O_TRUNC : 0));
      const repair = await repairTail(file);
      const { size } = await file.stat();
      return new JsonlWriter(path, file, size, repair, options);
    } catch (error) {
      await file?.close();
      throw fileError(error, path, "write");
    }
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds one line (without its newline). Resolves when it is in the file, and under `always` flushed to disk; rejects
   * when it is not. Waits first while too much is queued.
   */
  async append(line: string): Promise<void> {
    while (this.#writing && (this.#queue?.text.length ?? 0) >= this.#maxQueued) await this.#writing;
    if (this.#closed) {
      const message = `'${this.path}' is closed; nothing more can be written to it.`;
      throw new RolloutFileError("ROLLOUT_WRITER_CLOSED", this.path, message);
    }
    if (this.#broken !== undefined) throw this.#broken;
    this.#queue ??= newBatch();
    const batch = this.#queue;
    batch.text += `${line}\n`;
    this.#writing ??= this.#writeAll();
    return batch.done;
  }

  /**
   * Flushes every line whose `append` has resolved to disk, regardless of the policy. Calls during a sync share the
   * next one.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncAgain();
    return this.#nextSync;
  }

  async #syncAgain(): Promise<void> {
    await this.#syncing;
    this.#nextSync = undefined;
    const syncing = this.#sync();
    this.#syncing = syncing.catch(() => undefined);
    await syncing;
  }

  /** Writes what is queued, syncs unless the policy is `never`, and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#syncTimer);
    try {
      while (this.#writing) await this.#writing;
      // A sync that continues after the file is closed would mark an intact file as broken.
      await this.#nextSync?.catch(() => undefined);
      await this.#syncing;
      if (this.#dirty && this.#fsync !== "never") await this.#file.datasync();
      await this.#checkPlace();
    } catch (error) {
      throw fileError(error, this.path, "write");
    } finally {
      await this.#file.close();
    }
    if (this.#broken !== undefined) throw this.#broken;
  }

  async #writeAll(): Promise<void> {
    // Waits one turn of the event loop, so that lines of rollouts that finish together share a write.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (let batch = this.#queue; batch !== undefined; batch = this.#queue) {
      this.#queue = undefined;
      try {
        await this.#writeBatch(batch.text);
        batch.settle();
      } catch (error) {
        batch.settle(error);
      }
    }
    this.#writing = undefined;
  }

  async #writeBatch(text: string): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    const stored = this.#images === "reference" ? await storeImages(this.path, text) : text;
    const bytes = Buffer.from(stored, "utf8");
    try {
      for (let written = 0; written < bytes.length; ) {
        written += (await this.#file.write(bytes, written)).bytesWritten;
      }
    } catch (error) {
      const failure = fileError(error, this.path, "write");
      await this.#cutBack(failure);
      throw failure;
    }
    this.#size += bytes.length;
    this.#dirty = true;
    if (this.#fsync === "always") await this.#sync();
    else if (this.#fsync === "interval") this.#syncLater();
  }

  async #cutBack(failure: RolloutFileError): Promise<void> {
    try {
      await this.#file.truncate(this.#size);
    } catch {
      // The end of the file is now unknown. Opening the file again repairs it; further writes would not.
      this.#broken = failure;
    }
  }

  async #sync(): Promise<void> {
    this.#dirty = false;
    try {
      await this.#file.datasync();
      await this.#checkPlace();
    } catch (error) {
      // After a failed sync the system may have dropped unwritten data; only reopening the file can tell.
      this.#broken = fileError(error, this.path, "write");
      throw this.#broken;
    }
  }

  /** Lines written to a file that another program deleted, replaced or truncated are lost, which ends the run. */
  async #checkPlace(): Promise<void> {
    // Lines may be added during the stat call.
    const size = this.#size;
    const [own, found] = await Promise.all([this.#file.stat(), stat(this.path).catch(() => undefined)]);
    const isSame = found !== undefined && found.ino === own.ino && found.dev === own.dev;
    if (isSame && found.size >= size) return;
    const what = isSame ? "cut off" : found ? "replaced" : "deleted";
    throw new RolloutFileError(
      "ROLLOUT_FILE_REPLACED",
      this.path,
      `'${this.path}' was ${what} by another program while it was written; its earlier lines are lost.`,
    );
  }

  #syncLater(): void {
    if (this.#syncTimer !== undefined || this.#closed) return;
    this.#syncTimer = setTimeout(() => {
      this.#syncTimer = undefined;
      // A failure is kept in #broken, where the next append and close find it.
      this.sync().catch(() => undefined);
    }, this.#syncIntervalMs);
    this.#syncTimer.unref();
  }
}

function newBatch(): Batch {
  let settle: Batch["settle"] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Every append of the batch returns this promise; a caller that does not handle it must not end the process.
  done.catch(() => undefined);
  return { text: "", done, settle };
}

/** The repair of a last line without newline. */
interface TailRepair {
  /** `completed`: only the newline was missing and was added. `removed`: the line was incomplete and was removed. */
  kind: "completed" | "removed";
  /** Length of the line in bytes. */
  bytes: number;
}

/**
 * Makes a file end with a newline (or be empty), so that lines can be appended. A process killed during a write leaves
 * part of a line. A prefix of a JSON object is never valid JSON, so a last line that parses is complete and is kept.
 */
async function repairTail(file: FileHandle): Promise<TailRepair | undefined> {
  const { size } = await file.stat();
  const start = await lastLineStart(file, size);
  if (start === size) return undefined;
  const tail = Buffer.alloc(size - start);
  await readFully(file, tail, start);
  if (isJsonObject(tail.toString("utf8"))) {
    await file.appendFile("\n");
    return { kind: "completed", bytes: tail.length };
  }
  await file.truncate(start);
  return { kind: "removed", bytes: tail.length };
}

/** The offset after the last newline. */
async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(Math.min(BLOCK_BYTES, size));
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const part = block.subarray(0, end - start);
    await readFully(file, part, start);
    const found = part.lastIndexOf(NEWLINE);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}

async function readFully(file: FileHandle, target: Buffer, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    done += bytesRead;
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
