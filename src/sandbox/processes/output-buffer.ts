import type { Writable } from "node:stream";

/** Collects output up to a limit and discards the rest, so that a flood of output uses no memory. */
export class OutputBuffer {
  readonly #limit: number;
  /** Receives the output instead of the memory. */
  readonly sink: Writable | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** Whether output was discarded. */
  truncated = false;

  constructor(limit: number, sink?: Writable) {
    this.#limit = limit;
    this.sink = sink;
  }

  add(chunk: Buffer): void {
    const room = this.#limit - this.#size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#size += kept.length;
    if (this.sink === undefined) this.#chunks.push(kept);
    else this.sink.write(kept);
  }

  /** The output as UTF-8; invalid bytes become replacement characters. */
  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
