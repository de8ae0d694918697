import type { Socket } from "node:net";

/** The socket is closed on a longer line, which cannot come from this program. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Batches of messages over a socket, one JSON list per line; messages sent in one turn of the event loop are written
 * together.
 */
export class LineSocket<Out> {
  readonly #socket: Socket;
  #outbox: Out[] = [];
  #scheduled = false;
  #rest = "";
  #closed = false;
  readonly #onClosed: () => void;

  constructor(socket: Socket, handlers: { messages: (batch: unknown[]) => void; closed: () => void }) {
    this.#socket = socket;
    this.#onClosed = handlers.closed;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => this.#received(chunk, handlers.messages));
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
    // The socket must not keep the process alive.
    socket.unref();
  }

  send(message: Out): void {
    if (this.#closed) return;
    this.#outbox.push(message);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.destroy();
    this.#onClosed();
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#closed || this.#outbox.length === 0) return;
    this.#socket.write(`${JSON.stringify(this.#outbox)}\n`);
    this.#outbox = [];
  }

  #received(chunk: string, messages: (batch: unknown[]) => void): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    try {
      for (const line of lines) messages(JSON.parse(line) as unknown[]);
    } catch {
      this.close();
      return;
    }
    if (this.#rest.length > MAX_LINE_BYTES) this.close();
  }
}
