import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HttpClient, type HttpClientOptions, type HttpRequest } from "./http-client.ts";
import { LARGE_BODY_BYTES, largeBodies } from "./large-bodies.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const opened: { pool?: HttpClient; server: Server; sockets: Set<Socket> }[] = [];

afterEach(async () => {
  for (const { pool, server, sockets } of opened.splice(0)) {
    await pool?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server that handles every chunk as the test specifies, and a pool of connections to it. */
async function talkTo(
  reply: (socket: Socket, received: string, connection: number) => void,
  options: Partial<HttpClientOptions> = {},
) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    const number = ++connections;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (text: string) => reply(socket, text, number));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = new HttpClient({
    maxConnections: 4,
    keepAliveMs: 10_000,
    connectTimeoutMs: 5_000,
    ...options,
  });
  opened.push({ pool, server, sockets });
  return { origin, pool: { origin, client: pool }, sockets, connections: () => connections };
}

const ask = ({ origin, client }: { origin: string; client: HttpClient }, more: Partial<HttpRequest> = {}) =>
  client.request(origin, { method: "GET", path: "/", headers: {}, maxBytes: 1_000, ...more });

describe("a pool of connections", () => {
  it("writes a valid request", async () => {
    let heard = "";
    const { pool } = await talkTo((socket, text) => {
      heard += text;
      if (heard.endsWith("ü".repeat(2))) socket.write(ANSWER);
      else if (Buffer.from(heard, "latin1").toString().endsWith("üü")) socket.write(ANSWER);
    });
    const answer = await ask(pool, { method: "POST", path: "/a?b=c", headers: { "x-y": "z" }, body: "üü" });
    expect(answer).toMatchObject({ status: 200, text: "ok" });
    expect(heard.split("\r\n")).toEqual([
      "POST /a?b=c HTTP/1.1",
      expect.stringMatching(/^host: 127\.0\.0\.1:\d+$/),
      "connection: keep-alive",
      "accept-encoding: identity",
      "x-y: z",
      "content-length: 4",
      "",
      Buffer.from("üü").toString("latin1"),
    ]);
  });

  it("sends large bodies and headers with non-ASCII characters", async () => {
    const body = "é".repeat(200_000);
    let heard = "";
    const { pool } = await talkTo((socket, text) => {
      heard += text;
      if (heard.length >= heard.indexOf("\r\n\r\n") + 4 + 2 * body.length) socket.write(ANSWER);
    });
    await ask(pool, { method: "POST", headers: { "x-name": "Ålesund" }, body });
    expect(heard).toContain("x-name: Ålesund\r\n");
    expect(Buffer.from(heard.slice(heard.indexOf("\r\n\r\n") + 4), "latin1").toString()).toBe(body);
  });

  it.each([
    ["a header with a line break", { headers: { a: "b\r\nc: d" } }],
    ["a name that is none", { headers: { "a b": "c" } }],
    ["a header of the connection", { headers: { "Transfer-Encoding": "chunked" } }],
    ["a path with a blank", { path: "/a b" }],
    ["a path with a line break", { path: "/a\r\nx: y" }],
    ["a path without slash", { path: "a" }],
  ])("rejects %s before anything is sent", async (_, more) => {
    const { pool, connections } = await talkTo((socket) => socket.write(ANSWER));
    await expect(ask(pool, more)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    expect(connections()).toBe(0);
  });

  it("reuses a connection, but not a closed one", async () => {
    const { pool, sockets, connections } = await talkTo((socket) => socket.write(ANSWER));
    for (let turn = 0; turn < 6; turn++) await ask(pool);
    const before = connections();
    expect(before).toBeLessThanOrEqual(2);
    // The client closes its side when the server has closed its own.
    await Promise.all([...sockets].map((socket) => once(socket.end(), "close")));
    await ask(pool);
    expect(connections()).toBe(before + 1);
  });

  it("does not read surplus bytes as the next answer", async () => {
    const { pool } = await talkTo((socket) =>
      socket.write(`${ANSWER}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad`),
    );
    for (let turn = 0; turn < 3; turn++) expect((await ask(pool, { resendable: true })).text).toBe("ok");
  });

  it("closes idle connections, and respects the keep-alive time of a server", async () => {
    const { pool, connections } = await talkTo((socket) => socket.write(ANSWER), { keepAliveMs: 40 });
    await ask(pool);
    await new Promise((resolve) => setTimeout(resolve, 80));
    await ask(pool);
    expect(connections()).toBe(2);
    const hinting = await talkTo((socket) =>
      socket.write(ANSWER.replace("\r\n\r\n", "\r\nkeep-alive: timeout=1\r\n\r\n")),
    );
    await ask(hinting.pool);
    await ask(hinting.pool);
    expect(hinting.connections()).toBe(2);
  });

  it("queues requests beyond the limit of connections, in order", async () => {
    const order: string[] = [];
    const { pool, connections } = await talkTo(
      (socket, text) => {
        order.push(text.slice(5, text.indexOf(" HTTP")));
        setTimeout(() => socket.write(ANSWER), 10);
      },
      { maxConnections: 1 },
    );
    const controller = new AbortController();
    const given = ask(pool, { path: "/given-up", signal: controller.signal });
    const paths = ["1", "2", "3"];
    const first = ask(pool, { path: "/1" });
    const later = [ask(pool, { path: "/2" }), ask(pool, { path: "/3" })];
    controller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await Promise.all([first, ...later]);
    expect(order.filter((path) => paths.includes(path))).toEqual(paths);
    expect(connections()).toBeLessThanOrEqual(2);
  });

  it.each([
    ["hangs up", (socket: Socket) => socket.end(), "CONNECTION_CLOSED"],
    ["resets", (socket: Socket) => socket.resetAndDestroy(), "ECONNRESET"],
    ["hangs up in its answer", (socket: Socket) => socket.end(ANSWER.slice(0, -1)), "CONNECTION_CLOSED"],
    ["talks nonsense", (socket: Socket) => socket.write("hello there\n\n"), "RESPONSE_NOT_HTTP"],
    ["never ends", (socket: Socket) => socket.write(ANSWER.replace(": 2", ": 9999")), "RESPONSE_TOO_LARGE"],
  ])("reports that the server %s, and continues with another connection", async (_, fault, code) => {
    const { pool } = await talkTo((socket, __, connection) => {
      if (connection === 1) fault(socket);
      else socket.write(ANSWER);
    });
    await expect(ask(pool)).rejects.toMatchObject({ code });
    expect((await ask(pool)).text).toBe("ok");
  });

  it.each([
    ["ends", (socket: Socket) => socket.end(), { status: 200 }],
    ["is reset", (socket: Socket) => socket.resetAndDestroy(), { code: "EPIPE" }],
  ])("survives that a connection %s while its large body waits for its turn", async (_, close, expected) => {
    const enter = vi.spyOn(largeBodies, "enter").mockReturnValue(false);
    const body = "x".repeat(LARGE_BODY_BYTES);
    const { pool, sockets } = await talkTo((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`);
    });
    const answer = ask(pool, { maxBytes: 1e6 }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(enter).toHaveBeenCalled());
    for (const socket of sockets) close(socket);
    expect(await answer).toMatchObject(expected);
    enter.mockRestore();
  });

  it("rejects when its signal fires, and when the pool is closed", async () => {
    const { pool, sockets } = await talkTo(() => {});
    await expect(ask(pool, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    await expect(ask(pool, { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
    const last = ask(pool);
    setTimeout(() => void pool.client.close(), 20);
    await expect(last).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([...sockets].every((socket) => socket.destroyed || socket.readableEnded)).toBe(true);
  });

  it("reports a failed connection", async () => {
    const client = new HttpClient({ maxConnections: 1, keepAliveMs: 1_000, connectTimeoutMs: 1_000 });
    await expect(ask({ origin: "http://127.0.0.1:1", client })).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
    // A handshake without an answer.
    const { origin } = await talkTo(() => {});
    const silent = new HttpClient({ maxConnections: 1, keepAliveMs: 1_000, connectTimeoutMs: 50 });
    await expect(ask({ origin: origin.replace("http:", "https:"), client: silent })).rejects.toMatchObject({
      code: "CONNECTION_TIMEOUT",
    });
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["Deflate", deflateRawSync],
    ["identity, br", brotliCompressSync],
  ])("decodes an answer that is encoded as %s without being requested", async (name, encode) => {
    const body = encode(Buffer.from("grüezi"));
    const { pool } = await talkTo((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${name}\r\n\r\n`);
      socket.end(body);
    });
    expect((await ask(pool)).text).toBe("grüezi");
  });

  it("rejects unknown and invalid encodings, and bodies that are too large after decoding", async () => {
    const answers = [
      ["zstd", Buffer.from("x"), "it is encoded as zstd"],
      ["gzip", Buffer.from("x"), "its content-encoding is gzip, but it cannot be decoded"],
      ["gzip", gzipSync(Buffer.alloc(100_000)), "larger than allowed"],
    ] as const;
    let next = 0;
    const { pool } = await talkTo((socket) => {
      const [name, body] = answers[next++] ?? ["", Buffer.alloc(0)];
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${name}\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    for (const [, , problem] of answers) await expect(ask(pool)).rejects.toThrow(problem);
  });

  it("resends a resendable request once if its connection closes before an answer", async () => {
    let heard = 0;
    const { pool } = await talkTo((socket) => {
      if (++heard % 2 === 0) socket.write(ANSWER);
      else socket.destroy();
    });
    expect((await ask(pool, { resendable: true })).text).toBe("ok");
    await expect(ask(pool)).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(heard).toBe(3);
  });

  it("does not resend after the start of an answer, or more than once", async () => {
    let heard = 0;
    const { pool } = await talkTo((socket, text) => {
      heard++;
      socket.end(text.startsWith("GET /never") ? "" : ANSWER.slice(0, -1));
    });
    await expect(ask(pool, { resendable: true })).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(heard).toBe(1);
    await expect(ask(pool, { path: "/never", resendable: true })).rejects.toMatchObject({
      code: "CONNECTION_CLOSED",
    });
    expect(heard).toBe(3);
  });

  it("needs little more memory than the body if it arrives byte by byte", async () => {
    const size = 200_000;
    const { pool } = await talkTo((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      socket.write(`${"1\r\nx\r\n".repeat(size)}0\r\n\r\n`);
    });
    const before = process.memoryUsage().heapUsed;
    const answer = await ask(pool, { maxBytes: size });
    expect(answer.text).toBe("x".repeat(size));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * size);
    await expect(ask(pool, { maxBytes: size - 1 })).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
  });

  it("rejects endless headers and too many encodings", async () => {
    const heads = [`x-y: z\r\n`.repeat(20_000), "content-encoding: gzip, gzip, gzip\r\n"];
    const { pool } = await talkTo((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${heads.shift()}content-length: 1\r\n\r\nx`),
    );
    await expect(ask(pool)).rejects.toMatchObject({ code: "RESPONSE_NOT_HTTP" });
    await expect(ask(pool)).rejects.toThrow("it is encoded 3 times");
  });

  it("keeps the status of an error whose body cannot be read", async () => {
    const { pool } = await talkTo((socket) =>
      socket.write("HTTP/1.1 401 No\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nno"),
    );
    expect(await ask(pool)).toMatchObject({ status: 401, text: "" });
  });
});

describe("a proxy", () => {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
  const environment = new Map(names.map((name) => [name, process.env[name]]));
  // Keeps the object, because `os.tmpdir()` and other tests of this thread read the real one.
  afterEach(() => {
    for (const [name, value] of environment) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it("is used for other hosts, but not for this machine or hosts in NO_PROXY", async () => {
    const asked: string[] = [];
    const { origin, sockets } = await talkTo((socket, text) => {
      const [target] = text.split("\r\n");
      asked.push(target ?? "");
      socket.write(text.startsWith("CONNECT") ? "HTTP/1.1 200 OK\r\n\r\n" : ANSWER);
    });
    process.env["HTTP_PROXY"] = origin;
    process.env["NO_PROXY"] = "inside.example";
    const client = new HttpClient({
      maxConnections: 1,
      keepAliveMs: 1_000,
      connectTimeoutMs: 500,
      proxy: true,
    });
    expect((await ask({ origin: "http://models.example", client }, { path: "/v1" })).text).toBe("ok");
    expect(asked.join()).toContain("models.example");
    const before = sockets.size;
    expect((await ask({ origin, client })).text).toBe("ok");
    expect(asked.at(-1)).toBe("GET / HTTP/1.1");
    expect(sockets.size).toBe(before + 1);
    await expect(ask({ origin: "http://inside.example", client })).rejects.toMatchObject({
      code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN|CONNECTION_TIMEOUT/),
    });
    await client.close();
  });

  it("that rejects is reported with its answer", async () => {
    const { origin } = await talkTo((socket) => socket.end("HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n"));
    process.env["HTTPS_PROXY"] = origin;
    const client = new HttpClient({
      maxConnections: 1,
      keepAliveMs: 1_000,
      connectTimeoutMs: 500,
      proxy: true,
    });
    await expect(ask({ origin: "https://models.example", client })).rejects.toMatchObject({
      code: "CONNECTION_PROXY",
      message: expect.stringContaining("407"),
    });
    await client.close();
  });
});

describe("large answers", () => {
  const body = "x".repeat(400_000);
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;

  it("are all read when many end at once", async () => {
    const waiting: Socket[] = [];
    const count = 300;
    const { pool } = await talkTo(
      (socket) => {
        if (waiting.push(socket) === count) for (const each of waiting) each.end(head + body);
      },
      { maxConnections: count },
    );
    const answers = await Promise.all(
      Array.from({ length: count }, () => ask(pool, { maxBytes: 1_000_000 })),
    );
    expect(answers.every(({ text }) => text === body)).toBe(true);
  });

  it("free their slot when they break off or are aborted", async () => {
    const controller = new AbortController();
    let connection = 0;
    const { pool } = await talkTo(
      (socket) => {
        // A hundred bodies that never end, a hundred that are interrupted, and then complete ones.
        const number = connection++;
        socket.write(head + body.slice(0, 200_000));
        if (number >= 200) socket.end(body.slice(200_000));
        else if (number >= 100) socket.destroy();
      },
      { maxConnections: 400 },
    );
    const large = (more: Partial<HttpRequest> = {}) => ask(pool, { maxBytes: 1_000_000, ...more });
    const endless = Array.from({ length: 100 }, () => large({ signal: controller.signal }));
    const settled = Promise.allSettled(endless);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const broken = Promise.allSettled(Array.from({ length: 100 }, () => large()));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const whole = Promise.all(Array.from({ length: 100 }, () => large()));
    controller.abort(new Error("enough"));
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
    expect((await broken).every(({ status }) => status === "rejected")).toBe(true);
    expect((await whole).every(({ text }) => text === body)).toBe(true);
  });
});
