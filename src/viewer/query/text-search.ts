import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Block } from "../index/blocks.ts";
import type { RolloutFile } from "../index/rollout-file.ts";

/** Finds rows that contain a text by reading the file; continues from the last position when the file has grown. */
export class TextSearch {
  readonly #file: RolloutFile;
  readonly #pattern: RegExp;
  #columns: RolloutFile["columns"];
  #found = new Uint8Array(64);
  #searched = 0;
  #running: Promise<void> | undefined;

  constructor(file: RolloutFile, text: string) {
    this.#file = file;
    this.#pattern = patternFor(text);
    this.#columns = file.columns;
  }

  get searched(): number {
    return this.#searched;
  }

  get done(): boolean {
    return this.#columns === this.#file.columns && this.#searched >= this.#columns.length;
  }

  has(row: number): boolean {
    // Matches in a file that has been replaced since are not valid.
    return this.#columns === this.#file.columns && row < this.#searched && this.#found[row] === 1;
  }

  /** Searches the remaining rows; calls during a search join it. */
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
    for await (const block of this.#file.blocks(this.#searched, signal)) {
      this.#search(block);
      if (columns !== this.#file.columns) return;
      await yieldToLoop();
    }
  }

  /**
   * Searches all rows of a block together: the position of a match gives its row, and the search continues after that
   * row.
   */
  #search({ bytes, lines, firstRow }: Block & { firstRow: number }): void {
    const last = firstRow + lines.length;
    if (last > this.#found.length) {
      const larger = new Uint8Array(Math.max(last, this.#found.length * 2));
      larger.set(this.#found);
      this.#found = larger;
    }
    this.#found.fill(0, firstRow, last);
    const pattern = this.#pattern;
    const text = bytes.toString("latin1", 0, lines.at(-1)?.to ?? 0);
    let line = 0;
    pattern.lastIndex = lines[0]?.from ?? 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      while ((lines[line]?.to ?? Number.POSITIVE_INFINITY) <= match.index) line++;
      this.#found[firstRow + line] = 1;
      pattern.lastIndex = lines[line]?.to ?? text.length;
    }
    this.#searched = last;
  }
}

/** How a character is written inside a JSON string. */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': String.raw`\\"`,
  "\\": String.raw`\\\\`,
  "\n": String.raw`\\n`,
  "\r": String.raw`\\r`,
  "\t": String.raw`\\t`,
  "/": String.raw`\\?/`,
};

/**
 * A pattern that finds a text in the bytes of JSON, read as Latin-1, in any case. Quotes and newlines are escaped there; letters beyond
 * ASCII are UTF-8 or, as some writers do, `\uXXXX`.
 */
export function patternFor(text: string): RegExp {
  return new RegExp([...text].map(characterPattern).join(""), "g");
}

function characterPattern(character: string): string {
  const escaped = ESCAPES[character];
  if (escaped !== undefined) return escaped;
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
  const written = cases.flatMap((each) => {
    const code = each.codePointAt(0) ?? 0;
    if (code >= 0x20 && code < 0x7f && each.length === 1) return [literal(each)];
    return [literal(Buffer.from(each, "utf8").toString("latin1")), unicodeEscapes(each)];
  });
  return written.length === 1 ? (written[0] ?? "") : `(?:${written.join("|")})`;
}

/** `\u00e9`, with digits of either case. */
function unicodeEscapes(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    const digits = text.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
  }).join("");
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
