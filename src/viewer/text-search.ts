import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { RolloutFile } from "./rollout-file.ts";

/** Rows that contain a text, found by reading the file; it goes on where it stopped when the file has grown. */
export class TextSearch {
  readonly #file: RolloutFile;
  readonly #matches: (line: string) => boolean;
  #columns: RolloutFile["columns"];
  #found = new Uint8Array(64);
  #searched = 0;
  #running: Promise<void> | undefined;

  constructor(file: RolloutFile, text: string) {
    this.#file = file;
    this.#matches = matcherFor(text);
    this.#columns = file.columns;
  }

  get searched(): number {
    return this.#searched;
  }

  get done(): boolean {
    return this.#columns === this.#file.columns && this.#searched >= this.#columns.length;
  }

  has(row: number): boolean {
    // What was found in a file that has been written anew since says nothing.
    return this.#columns === this.#file.columns && row < this.#searched && this.#found[row] === 1;
  }

  /** Searches what has not been searched yet; calls while a search runs join it. */
  advance(signal?: AbortSignal): Promise<void> {
    this.#running ??= this.#run(signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(signal?: AbortSignal): Promise<void> {
    if (this.#columns !== this.#file.columns) {
      this.#columns = this.#file.columns;
      this.#searched = 0;
    }
    const columns = this.#columns;
    for await (const batch of this.#file.texts(this.#searched, signal)) {
      for (const { row, text } of batch) this.#note(row, text);
      if (columns !== this.#file.columns) return;
      await yieldToLoop();
    }
  }

  #note(row: number, text: string): void {
    if (row >= this.#found.length) {
      const larger = new Uint8Array(this.#found.length * 2);
      larger.set(this.#found);
      this.#found = larger;
    }
    this.#found[row] = this.#matches(text) ? 1 : 0;
    this.#searched = row + 1;
  }
}

/**
 * Whether a line of JSON contains a text, in any case. Quotes, backslashes and newlines are escaped in JSON; some writers escape
 * everything beyond ASCII too.
 */
export function matcherFor(text: string): (line: string) => boolean {
  const needle = JSON.stringify(text).slice(1, -1).toLowerCase();
  if (!/[^ -~]/.test(text)) return (line) => line.toLowerCase().includes(needle);
  return (line) => unescaped(line).toLowerCase().includes(needle);
}

function unescaped(line: string): string {
  return line.includes("\\u")
    ? line.replace(/\\u([0-9a-f]{4})/gi, (written, digits: string) => {
        const unit = Number.parseInt(digits, 16);
        return unit > 0x7e ? String.fromCharCode(unit) : written;
      })
    : line;
}
