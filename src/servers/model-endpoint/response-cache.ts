import { createHash } from "node:crypto";
import { access, constants, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, GymError } from "../../base/errors.ts";
import { makeDirectory, replaceFile } from "../../base/files/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import type { HttpAnswer } from "../../base/transport/door.ts";

/** Larger answers are not cached. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;
const SCHEMA = 1;

export interface CacheKeyParts {
  /** Endpoint, path and query. */
  url: string;
  /** Headers without secrets. They are part of the request. */
  headers: readonly (readonly [name: string, value: string])[];
  /** The request body as it is sent. */
  body: string;
  /** The repeat of the task. Repeats must not share an answer. */
  repeat: string;
}

/** Answers on disk, keyed by the whole request: one file each, so that concurrent runs can share a folder. */
export class ResponseCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #onProblem: (message: string) => void;
  #size: Promise<number> | undefined;
  #bytes = 0;
  #stopped = false;

  constructor(directory: string, maxBytes: number, onProblem: (message: string) => void) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#onProblem = onProblem;
  }

  /** Creates the folder. Throws when it cannot be written to, before the first call. */
  async open(): Promise<void> {
    try {
      await makeDirectory(this.#directory);
      await access(this.#directory, constants.W_OK);
    } catch (error) {
      throw new GymError(
        "PROVIDER_CACHE",
        `response_cache_dir cannot be written to: ${errorMessage(error)}`,
        { cause: error },
      );
    }
  }

  static key({ url, headers, body, repeat }: CacheKeyParts): string {
    const asked = JSON.stringify([url, headers, repeat]);
    return createHash("sha256").update(`${asked}\n`).update(body).digest("hex");
  }

  /** The stored answer for a key; undefined when there is no readable one. */
  async find(key: string): Promise<HttpAnswer | undefined> {
    let entry: unknown;
    try {
      entry = JSON.parse(await readFile(this.#file(key), "utf8"));
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!missing) this.#onProblem(`${this.#file(key)} cannot be used: ${(error as Error).message}`);
      return undefined;
    }
    if (!isObject(entry) || entry["schema"] !== SCHEMA || typeof entry["text"] !== "string") return undefined;
    return { status: 200, headers: {}, text: entry["text"] };
  }

  /** Stores an answer. A failure is reported and does not fail the call. */
  async keep(key: string, parts: CacheKeyParts, text: string): Promise<void> {
    if (this.#stopped || text.length > MAX_ENTRY_BYTES) return;
    try {
      this.#size ??= sizeOf(this.#directory);
      const content = JSON.stringify({ schema: SCHEMA, ...parts, text });
      if ((await this.#size) + this.#bytes + content.length > this.#maxBytes) {
        this.#stopped = true;
        this.#onProblem(`${this.#directory} has reached response_cache_max_mb; answers are no longer stored`);
        return;
      }
      const file = this.#file(key);
      await makeDirectory(join(file, ".."));
      await replaceFile(file, content);
      this.#bytes += content.length;
    } catch (error) {
      // Reported once, although several calls may fail at the same time.
      if (this.#stopped) return;
      this.#stopped = true;
      this.#onProblem(`answers are no longer stored in ${this.#directory}: ${(error as Error).message}`);
    }
  }

  #file(key: string): string {
    return join(this.#directory, key.slice(0, 2), `${key}.json`);
  }
}

async function sizeOf(directory: string): Promise<number> {
  let total = 0;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    // Another run may have renamed the file since then.
    const found = await stat(join(entry.parentPath ?? entry.path, entry.name)).catch(() => undefined);
    total += found?.size ?? 0;
  }
  return total;
}
