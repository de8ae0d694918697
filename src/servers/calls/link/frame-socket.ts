import type { Socket } from "node:net";
import { parseJson } from "../../../base/door.ts";

const NEWLINE = 10;

export interface FrameHandlers {
  /** Called with a message: its head, and its text. */
  received(head: readonly unknown[], text: string): void;
  /** Called once, when the socket is closed. */
  closed(): void;
}

/**
 * Precedes a text that is written as a JSON string because it has line breaks; JSON never begins with this character.
 */
const QUOTED = "~";

/**
 * Messages over a socket between two processes of a run, two lines each: a JSON head, and a text. Messages sent in one
 * turn of the event loop are written together, so a busy process makes one system call for dozens of them.
 */
export class FrameSocket {
  readonly #socket: Socket;
  readonly #handlers: FrameHandlers;
  readonly #maxLineBytes: number;
  #outbox = "";
  #scheduled = false;
  #head: readonly unknown[] | undefined;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #closed = false;

  constructor(socket: Socket, maxLineBytes: number, handlers: FrameHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#maxLineBytes = maxLineBytes;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
  }

  send(head: readonly unknown[], text: string): void {
    if (this.#closed) return;
    this.#outbox += `${JSON.stringify(head)}\n${asLine(text)}\n`;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#flush);
  }

  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.#socket.destroySoon();
    this.#handlers.closed();
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#closed || this.#outbox === "") return;
    this.#socket.write(this.#outbox);
    this.#outbox = "";
  };

  #read(chunk: Buffer): void {
    // A socket that is being closed still delivers what the other side has sent.
    if (this.#closed) return;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = this.#line(chunk, from, end);
      from = end + 1;
      if (!this.#take(line)) this.close();
      // The receiver of a message may have closed the socket too.
      if (this.#closed) return;
    }
    if (from === chunk.length) return;
    this.#rest.push(from === 0 ? chunk : chunk.subarray(from));
    this.#restBytes += chunk.length - from;
    if (this.#restBytes > this.#maxLineBytes) this.close();
  }

  /** Handles a head, or the text after it. Returns false for a line that is not part of this protocol. */
  #take(line: string): boolean {
    const head = this.#head;
    if (head === undefined) {
      const value = parseJson(line);
      if (Array.isArray(value)) this.#head = value;
      return this.#head !== undefined;
    }
    this.#head = undefined;
    const text = line.startsWith(QUOTED) ? parseJson(line.slice(QUOTED.length)) : line;
    if (typeof text !== "string") return false;
    this.#handlers.received(head, text);
    return true;
  }

  #line(chunk: Buffer, from: number, end: number): string {
    if (this.#restBytes === 0) return chunk.toString("utf8", from, end);
    const line = Buffer.concat([...this.#rest, chunk.subarray(from, end)]).toString("utf8");
    this.#rest = [];
    this.#restBytes = 0;
    return line;
  }
}

function asLine(text: string): string {
  return text.includes("\n") || text.startsWith(QUOTED) ? QUOTED + JSON.stringify(text) : text;
}
