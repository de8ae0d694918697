import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** Null: no response. Undefined: the environment closes the connection. */
type Answer = (message: { type: string; data: Record<string, unknown> }) => object | null | undefined;

/** Implements the protocol of an OpenEnv server: `/schema` over HTTP, and a WebSocket at `/ws` with one environment per connection. */
export class OpenEnvDouble {
  readonly #server: Server;
  /** Connections that have an environment. */
  readonly sockets = new Set<Duplex>();
  readonly #refused = new Set<Duplex>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(schema: object, environment: () => Answer, capacity = Infinity): Promise<OpenEnvDouble> {
    const server = createServer((_, reply) => {
      reply.writeHead(200, { "content-type": "application/json" });
      reply.end(JSON.stringify({ action: schema, observation: {}, state: {} }));
    });
    const double = new OpenEnvDouble(server);
    server.on("upgrade", (request, socket) => {
      const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
          `sec-websocket-accept: ${createHash("sha1").update(key).digest("base64")}\r\n\r\n`,
      );
      if (double.sockets.size >= capacity) {
        double.#refused.add(socket);
        socket.end(
          frame({ type: "error", data: { message: "Server at capacity", code: "CAPACITY_REACHED" } }),
        );
        return;
      }
      double.sockets.add(socket);
      socket.on("close", () => double.sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      const answer = environment();
      let buffer: Buffer = Buffer.alloc(0);
      socket.on("data", (chunk: Buffer) => {
        buffer = Buffer.concat([buffer, chunk]);
        for (let read = readFrame(buffer); read !== undefined; read = readFrame(buffer)) {
          buffer = read.rest;
          const reply = read.text === undefined ? undefined : answer(JSON.parse(read.text));
          if (reply === undefined) socket.end();
          else if (reply !== null) socket.write(frame(reply));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of [...this.sockets, ...this.#refused]) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A text frame of up to 64 KiB. */
function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = text.length < 126 ? [0x81, text.length] : [0x81, 126, text.length >> 8, text.length & 255];
  return Buffer.concat([Buffer.from(head), text]);
}

/** The first frame of a client, unmasked; it has no text if it closes the connection. */
function readFrame(buffer: Buffer): { text: string | undefined; rest: Buffer } | undefined {
  if (buffer.length < 6) return undefined;
  const short = (buffer[1] ?? 0) & 127;
  const [length, mask] = short < 126 ? [short, 2] : [buffer.readUInt16BE(2), 4];
  const end = mask + 4 + length;
  if (buffer.length < end) return undefined;
  const text = buffer.subarray(mask + 4, end).map((byte, index) => byte ^ (buffer[mask + (index % 4)] ?? 0));
  const isText = ((buffer[0] ?? 0) & 15) === 1;
  return { text: isText ? Buffer.from(text).toString() : undefined, rest: buffer.subarray(end) };
}

/** The action of the walk. */
export const MOVE = {
  description: "A move.",
  type: "object",
  properties: { move: { type: "integer" }, metadata: { type: "object" } },
  required: ["move"],
};

/** Walks along a line: half a point for each step forward; the episode ends at 3. */
export function walk() {
  let position = 0;
  const observed = (reward: number | null) => ({
    type: "observation",
    data: { observation: { position }, reward, done: position >= 3 },
  });
  return ({ type, data }: { type: string; data: Record<string, unknown> }) => {
    if (type === "close") return undefined;
    if (type === "state") return { type: "state", data: { position } };
    if (type === "reset") {
      position = Number(data["start"] ?? 0);
      return { ...observed(null), data: { ...observed(null).data, done: false } };
    }
    const move = Number(data["move"]);
    if (Number.isNaN(move))
      return { type: "error", data: { message: "Invalid message", code: "VALIDATION_ERROR", errors: [] } };
    if (move === 99) return { type: "error", data: { message: "bad move", code: "EXECUTION_ERROR" } };
    position += move;
    return observed(move === 0 ? null : move / 2);
  };
}
