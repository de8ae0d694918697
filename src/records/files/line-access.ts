import { closeSync, openSync, readSync } from "node:fs";
import { fileError, RolloutFileError } from "../errors.ts";

const INITIAL_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** Reads single lines of a file again, by their start offset. */
export class LineAccess {
  readonly #path: string;
  readonly #file: number;
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);

  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, "r");
    } catch (error) {
      throw fileError(error, path, "read");
    }
  }

  /** The text of the line at `offset`, without its terminator. */
  lineAt(offset: number): string {
    for (let filled = 0; ; ) {
      const read = this.#read(filled, offset + filled);
      const end = this.#buffer.subarray(0, filled + read).indexOf(NEWLINE, filled);
      if (end !== -1 || read === 0)
        return this.#buffer.toString("utf8", 0, end === -1 ? filled : end).replace(/\r$/, "");
      filled += read;
      if (filled === this.#buffer.length) this.#grow();
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(at: number, position: number): number {
    try {
      const read = readSync(this.#file, this.#buffer, at, this.#buffer.length - at, position);
      if (read === 0 && at === 0) {
        throw new RolloutFileError(
          "ROLLOUT_FILE_UNREADABLE",
          this.#path,
          `'${this.#path}' became shorter while it was read.`,
        );
      }
      return read;
    } catch (error) {
      throw fileError(error, this.#path, "read");
    }
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#buffer.length * 2);
    this.#buffer.copy(larger);
    this.#buffer = larger;
  }
}
