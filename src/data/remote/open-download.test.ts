import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { openDownload } from "./open-download.ts";

const CONTENT = Buffer.alloc(300_000, "0123456789abcdef");
let close = () => {};
afterEach(() => close());

/** A server that closes the connection after the body, as `python3 -m http.server` does. */
async function serve(head: string, finish: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.write(Buffer.concat([Buffer.from(head), CONTENT]), () => finish(socket)),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  close = () => server.close();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/rollouts.jsonl`;
}

async function readSlowly(url: string): Promise<number> {
  const { body } = await openDownload(url);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    await sleep(20);
  }
  return bytes;
}

it.each([
  ["without a length", "HTTP/1.0 200 OK\r\n\r\n"],
  ["with a length", `HTTP/1.0 200 OK\r\ncontent-length: ${CONTENT.length}\r\n\r\n`],
])("reads a body %s to its end when the server has closed the connection long ago", async (_, head) => {
  const url = await serve(head, (socket) => socket.end());
  expect(await readSlowly(url)).toBe(CONTENT.length);
});

it("reports a connection that closes before the announced length", async () => {
  const head = `HTTP/1.0 200 OK\r\ncontent-length: ${CONTENT.length + 1}\r\n\r\n`;
  const url = await serve(head, (socket) => socket.end());
  await expect(readSlowly(url)).rejects.toThrow();
});
