import { closeSync, openSync, readSync } from "node:fs";
import { fileError, RolloutFileError } from "../errors.ts";
import { packedFile } from "../packed/run-file.ts";
import { restoreImages } from "./row-images.ts";

const INITIAL_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** Reads single lines of a file again, by their start offset. */
export class LineAccess {
  readonly #path: string;
  readonly #readAt: (buffer: Buffer, at: number, position: number) => number;
  readonly close: () => void;
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);

  constructor(path: string) {
    this.#path = path;
    const packed = packedFile(path);
    if (packed) {
      const { run, file } = packed;
      this.#readAt = (buffer, at, position) => run.read(file, buffer, at, buffer.length - at, position);
      this.close = () => {};
      return;
    }
    try {
      const file = openSync(path, "r");
      this.#readAt = (buffer, at, position) => readSync(file, buffer, at, buffer.length - at, position);
      this.close = () => closeSync(file);
    } catch (error) {
      throw fileError(error, path, "read");
    }
  }

  /** The text of the line at `offset`, with its images and without its terminator. */
  lineAt(offset: number): string {
    return restoreImages(this.#path, this.#textAt(offset));
  }

  #textAt(offset: number): string {
    for (let filled = 0; ; ) {
      const read = this.#read(filled, offset + filled);
      const end = this.#buffer.subarray(0, filled + read).indexOf(NEWLINE, filled);
      if (end !== -1 || read === 0)
        return this.#buffer.toString("utf8", 0, end === -1 ? filled : end).replace(/\r$/, "");
      filled += read;
      if (filled === this.#buffer.length) this.#grow();
    }
  }

  #read(at: number, position: number): number {
    try {
      const read = this.#readAt(this.#buffer, at, position);
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
