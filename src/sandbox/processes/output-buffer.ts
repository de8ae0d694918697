import type { Writable } from "node:stream";

/** Keeps output up to a limit and throws the rest away, so that a flood costs time but no memory. */
export class OutputBuffer {
  readonly #limit: number;
  /** Takes what is kept, in place of the memory. */
  readonly sink: Writable | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #truncated = false;

  constructor(limit: number, sink?: Writable) {
    this.#limit = limit;
    this.sink = sink;
  }

  /** Whether something was thrown away. */
  get truncated(): boolean {
    return this.#truncated;
  }

  add(chunk: Buffer): void {
    const room = this.#limit - this.#size;
    if (chunk.length > room) this.#truncated = true;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#size += kept.length;
    if (this.sink === undefined) this.#chunks.push(kept);
    else this.sink.write(kept);
  }

  /** As UTF-8; bytes that are none become replacement characters. */
  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
