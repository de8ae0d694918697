import { constants } from "node:fs";
import { copyFile, cp, type FileHandle, open, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { makeDirectory, replaceWith } from "../../base/files/door.ts";
import { IMAGE_FOLDER, JsonlWriter, restoreImages, writeFileAtomically } from "../../records/files/door.ts";
import { QueueError } from "../queue/errors.ts";
import { ResultHead, type RowAddress } from "../queue/store-server.ts";

const CONFIG = "config.yaml";
const INPUTS = "inputs.jsonl";
const RESULTS = "results";
const FIRST_READ_BYTES = 16 * 1024;
const NEWLINE = 0x0a;
/** Maximum number of bytes read from the results of one worker at a time. */
const READ_BYTES = 4 * 1024 * 1024;

/** Writes the rows and the config of a run to the shared directory. Existing results of workers are kept. */
export async function shareRun(
  directory: string,
  { config, inputs }: { config: string; inputs: string },
): Promise<void> {
  try {
    await makeDirectory(path.resolve(directory, RESULTS), 0o700);
    const place = path.join(directory, INPUTS);
    const [there, here] = await Promise.all([stat(place).catch(() => undefined), stat(inputs)]);
    if (there?.size !== here.size) {
      // The config is written last: a worker that finds it can rely on the rows and their images.
      const images = path.join(path.dirname(inputs), IMAGE_FOLDER);
      const isFolder = (await stat(images).catch(() => undefined))?.isDirectory();
      if (isFolder) await cp(images, path.join(directory, IMAGE_FOLDER), { recursive: true, force: false });
      await replaceWith(place, async (partial) => {
        await copyFile(inputs, partial, constants.COPYFILE_FICLONE);
        const file = await open(partial, "r+");
        await file.sync().finally(() => file.close());
      });
    }
    await writeFileAtomically(path.join(directory, CONFIG), [config]);
  } catch (error) {
    throw new QueueError(
      "QUEUE_STORE",
      `The shared directory '${directory}' cannot be used: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** The worker side of a shared directory: reads rows, and appends results to the worker's own file. */
export class SharedStore {
  readonly #config: string;
  readonly #path: string;
  readonly #inputs: FileHandle;
  readonly #results: JsonlWriter;

  private constructor(config: string, path: string, inputs: FileHandle, results: JsonlWriter) {
    this.#config = config;
    this.#path = path;
    this.#inputs = inputs;
    this.#results = results;
  }

  /** Rejects when this machine cannot see the directory or cannot write to it. */
  static async open(directory: string, worker: string): Promise<SharedStore> {
    const config = await readFile(path.join(directory, CONFIG), "utf8");
    const place = path.join(directory, INPUTS);
    const inputs = await open(place, "r");
    try {
      const file = path.join(directory, RESULTS, `${worker}.jsonl`);
      return new SharedStore(config, place, inputs, await JsonlWriter.open(file, { fsync: "always" }));
    } catch (error) {
      await inputs.close();
      throw error;
    }
  }

  async config(): Promise<string> {
    return this.#config;
  }

  async row([, , , offset]: RowAddress): Promise<string> {
    for (let size = FIRST_READ_BYTES; ; size *= 2) {
      const { buffer, bytesRead } = await this.#inputs.read(Buffer.allocUnsafe(size), 0, size, offset);
      const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
      if (end === -1 && bytesRead === size) continue;
      return restoreImages(this.#path, buffer.toString("utf8", 0, end === -1 ? bytesRead : end));
    }
  }

  /** Resolves when the result is flushed to disk. */
  save(head: ResultHead, line: string): Promise<void> {
    return this.#results.append(`${JSON.stringify(head)}\n${line}`);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#inputs.close(), this.#results.close()]);
  }
}

/** Receives a result and decides whether it counts. */
export type TakeResult = (head: ResultHead, line: string) => Promise<unknown>;

/** The collector side: reads the results that workers append. */
export class SharedResults {
  readonly #directory: string;
  readonly #read = new Map<string, number>();
  #reading: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads new results. Rejects when a file is damaged, and skips the rest of that file. */
  take(result: TakeResult): Promise<void> {
    this.#reading ??= this.#takeAll(result).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #takeAll(result: TakeResult): Promise<void> {
    for (const name of await readdir(path.join(this.#directory, RESULTS)))
      while (await this.#takeSome(name, result));
  }

  /** Returns whether there may be more. */
  async #takeSome(name: string, result: TakeResult): Promise<boolean> {
    const from = this.#read.get(name) ?? 0;
    const file = path.join(this.#directory, RESULTS, name);
    const text = await pairsAt(file, from);
    if (text === "") return false;
    const lines = text.split("\n");
    const pending: Promise<unknown>[] = [];
    for (let at = 0; at + 2 < lines.length; at += 2) {
      const head = readHead(lines[at] ?? "");
      if (!head) {
        this.#read.set(name, Number.POSITIVE_INFINITY);
        await Promise.all(pending);
        throw new QueueError("QUEUE_STORE", `'${file}' is damaged behind byte ${from}.`);
      }
      pending.push(result(head, lines[at + 1] ?? ""));
    }
    await Promise.all(pending);
    this.#read.set(name, from + Buffer.byteLength(text));
    return true;
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function readHead(text: string): ResultHead | undefined {
  try {
    return ResultHead.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The complete results from an offset on, each a head line and a row line; empty when the file does not exist. */
async function pairsAt(path: string, from: number): Promise<string> {
  if (from === Number.POSITIVE_INFINITY) return "";
  // Opened for each read, because a network filesystem refreshes the size of a file on open.
  const file = await open(path, "r");
  try {
    for (let size = READ_BYTES; ; size *= 2) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, from);
      const end = endOfPairs(buffer.subarray(0, bytesRead));
      if (end > 0 || bytesRead < size) return buffer.toString("utf8", 0, end);
    }
  } finally {
    await file.close();
  }
}

/** Number of bytes up to the end of the last complete pair of lines. */
function endOfPairs(bytes: Buffer): number {
  let end = 0;
  let isSecond = false;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    if (isSecond) end = at + 1;
    isSecond = !isSecond;
  }
  return end;
}
