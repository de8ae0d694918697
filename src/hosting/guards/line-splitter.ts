const MAX_LINE = 16 * 1024;

/** Splits chunks of text into lines. A line that is too long is cut. */
export class LineSplitter {
  #rest = "";
  readonly #onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = "";
    }
    for (const line of lines) this.#onLine(line);
  }

  /** Emits the rest without a line end. */
  end(): void {
    if (this.#rest !== "") this.#onLine(this.#rest);
    this.#rest = "";
  }
}
