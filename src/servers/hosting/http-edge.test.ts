import { connect } from "node:net";
import { Readable } from "node:stream";
import { type Agent, request } from "undici";
import { afterEach, expect, it, vi } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { largeBodies } from "../../base/transport/large-bodies.ts";
import { ServerApp } from "./app.ts";
import { HttpEdge, type HttpEdgeOptions, ListenError } from "./http-edge.ts";
import { startHeadServer } from "./processes/head-server.ts";

const open: HttpEdge[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((edge) => edge.close()));
});

let nextPort = 21_000 + (process.pid % 500) * 10;

async function listen(options: Partial<HttpEdgeOptions> = {}) {
  const seen: AbortSignal[] = [];
  const app = new ServerApp({
    name: "demo",
    type: "resources_servers",
    className: "Demo",
    get: {},
    post: {
      "/echo": ({ body }) => body ?? null,
      "/boom": () => {
        throw new TypeError("bad thing");
      },
      "/hang": ({ signal }) => {
        seen.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    },
    log: silentLogger,
  });
  const port = nextPort++;
  const edge = await HttpEdge.listen(app, { host: "127.0.0.1", port, ...options });
  open.push(edge);
  return { url: `http://127.0.0.1:${port}`, port, edge, seen };
}

async function post(url: string, body: string | undefined, dispatcher?: Agent) {
  const reply = await request(url, {
    method: "POST",
    ...(body !== undefined && { body }),
    ...(dispatcher && { dispatcher }),
  });
  return { status: reply.statusCode, body: await reply.body.json(), cookies: reply.headers["set-cookie"] };
}

it("writes whole rewards as floats", async () => {
  const { url } = await listen();
  const reply = await request(`${url}/echo`, { method: "POST", body: '{"reward":1,"count":1}' });
  expect(await reply.body.text()).toBe('{"reward":1.0,"count":1}');
});

it("counts a large reply until its caller has read it or disconnected", async () => {
  const { url, port } = await listen();
  let unread = 0;
  const replying = vi.spyOn(largeBodies, "replying").mockImplementation(() => {
    unread++;
    return () => void unread--;
  });
  const large = JSON.stringify({ text: "x".repeat(12_000_000) });
  await post(`${url}/echo`, large);
  await expect.poll(() => unread).toBe(0);
  await post(`${url}/echo`, '{"text":"x"}');
  expect(replying).toHaveBeenCalledTimes(1);
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST /echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${large.length}\r\n\r\n${large}`);
  socket.pause();
  await expect.poll(() => replying.mock.calls.length, { timeout: 5_000 }).toBe(2);
  expect(unread).toBe(1);
  socket.destroy();
  await expect.poll(() => unread).toBe(0);
  replying.mockRestore();
});

it("answers JSON with the session cookie on every status", async () => {
  const { url } = await listen();
  const ok = await post(`${url}/echo`, '{"a":[1,"ü"]}');
  expect(ok).toMatchObject({ status: 200, body: { a: [1, "ü"] } });
  expect(String(ok.cookies)).toMatch(/^Demo___demo=.*; path=\/; Max-Age=1209600; httponly; samesite=lax$/);
  const boom = await post(`${url}/boom`, "{}");
  expect(boom).toMatchObject({ status: 500, body: "TypeError('bad thing')" });
  expect(String(boom.cookies)).toContain("Demo___demo=");
  expect(await post(`${url}/nowhere`, "{}")).toMatchObject({ status: 404, body: { detail: "Not Found" } });
  const wrongMethod = await request(`${url}/echo`);
  expect(wrongMethod.statusCode).toBe(405);
  await wrongMethod.body.dump();
});

it("rejects a body that is not JSON with 422 and a body that is too large with 413", async () => {
  const { url } = await listen({ bodyLimitBytes: 1000 });
  const bad = await post(`${url}/echo`, '{"a":');
  expect(bad.status).toBe(422);
  expect(bad.body).toEqual({
    detail: [
      {
        type: "json_invalid",
        loc: ["body", 5],
        msg: "JSON decode error",
        input: {},
        ctx: { error: expect.any(String) },
      },
    ],
  });
  expect(String(bad.cookies)).toContain("Demo___demo=");
  const tooLarge = await post(`${url}/echo`, JSON.stringify("x".repeat(2000)));
  expect(tooLarge).toMatchObject({
    status: 413,
    body: { detail: expect.stringMatching(/larger than [\d.]+ MB, .*\(max_body_mb\)/) },
  });
});

it("reads a body without content-length and rejects it when it becomes too large", async () => {
  const { url, port } = await listen({ bodyLimitBytes: 1000 });
  const inPieces = (count: number) =>
    request(`${url}/echo`, {
      method: "POST",
      body: Readable.from(['{"a":"', ...Array.from({ length: count }, () => "é".repeat(50)), '"}']),
    });
  const read = await inPieces(3);
  expect(await read.body.json()).toEqual({ a: "é".repeat(150) });
  const rejected = await inPieces(50);
  expect(rejected.statusCode).toBe(413);
  await rejected.body.dump();
  // The client never stops sending; the server does not wait for the end.
  const endless = `POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${`64\r\n${"x".repeat(100)}\r\n`.repeat(20)}`;
  expect(await raw(port, endless)).toMatch(/^HTTP\/1.1 413 /);
});

it("answers a GET with a body and a GET with an invalid path", async () => {
  const { url } = await listen();
  const reply = await request(`${url}/`, { method: "GET", body: "{}" });
  expect([reply.statusCode, await reply.body.json()]).toEqual([200, { status: "ok" }]);
  const odd = await request(`${url}/%zz?x=1`);
  expect([odd.statusCode, await odd.body.json()]).toEqual([404, { detail: "Not Found" }]);
});

it("reads NaN and Infinity as written by Python", async () => {
  const { url } = await listen();
  expect(await post(`${url}/echo`, '{"reward": NaN, "a": [1]}')).toMatchObject({
    status: 200,
    body: { reward: null, a: [1] },
  });
});

it("uses the same form for every rejection", async () => {
  const { url, port } = await listen({ headersTimeoutMs: 200 });
  for (const method of ["OPTIONS", "PUT", "TRACE"] as const) {
    const reply = await request(`${url}/echo`, { method });
    expect([reply.statusCode, await reply.body.json()]).toEqual([405, { detail: "Method Not Allowed" }]);
  }
  expect(await raw(port, "GARBAGE\r\n\r\n")).toMatch(
    /^HTTP\/1.1 400 .*\{"detail":"this is not an HTTP request"\}$/s,
  );
  expect(await raw(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(40_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 .*\{"detail":"the request's headers are too large"\}$/s,
  );
  // A slow-loris client never finishes its headers and must lose its socket.
  expect(await raw(port, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Le")).toMatch(
    /^HTTP\/1.1 408 .*\{"detail":"the request did not arrive in time"\}$/s,
  );
});

it("ends a request whose body never arrives", async () => {
  const { port, seen } = await listen({ headersTimeoutMs: 200, requestTimeoutMs: 300 });
  const reply = await raw(port, 'POST /hang HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"a":');
  expect(reply).toMatch(/^HTTP\/1.1 408 /);
  expect(seen).toEqual([]);
});

/** Sends bytes and returns everything received until the server closes the connection. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let reply = "";
    socket.on("data", (chunk) => (reply += chunk));
    socket.on("close", () => resolve(reply));
    socket.on("error", (error: Error & { code?: string }) => error.code === "ECONNRESET" || reject(error));
    socket.write(text);
  });
}

it("aborts the signal of the handler when the caller disconnects", async () => {
  const { url, seen } = await listen();
  const controller = new AbortController();
  const call = request(`${url}/hang`, { method: "POST", body: "{}", signal: controller.signal }).catch(
    () => "gone",
  );
  await expect.poll(() => seen.length).toBe(1);
  controller.abort();
  expect(await call).toBe("gone");
  await expect.poll(() => seen[0]?.aborted).toBe(true);
});

it("shuts down within the grace period despite a hanging request and an unfinished one", async () => {
  const { url, port, edge, seen } = await listen();
  const hanging = post(`${url}/hang`, "{}").catch(() => "cut off");
  const loris = connect(port, "127.0.0.1");
  loris.write("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Le");
  loris.on("error", () => {});
  await expect.poll(() => seen.length).toBe(1);
  const started = performance.now();
  await edge.close();
  open.length = 0;
  expect(performance.now() - started).toBeLessThan(3_000);
  await hanging;
});

it("reports a port in use", async () => {
  const { port } = await listen();
  const app = new ServerApp({
    name: "second",
    type: "resources_servers",
    className: "Demo",
    get: {},
    post: {},
    log: silentLogger,
  });
  const attempt = HttpEdge.listen(app, { host: "127.0.0.1", port });
  await expect(attempt).rejects.toThrow(ListenError);
  await expect(attempt).rejects.toThrow(`'second' cannot listen on 127.0.0.1:${port}: the port is in use`);
});

it("answers when the response is nested too deeply to be written", async () => {
  const { url } = await listen();
  const depth = 50_000;
  const reply = await request(`${url}/echo`, { method: "POST", body: "[".repeat(depth) + "]".repeat(depth) });
  expect([200, 422, 500]).toContain(reply.statusCode);
  await reply.body.dump();
});

it("rejects cross-site requests from a browser", async () => {
  const { url, port } = await listen({ allowedHosts: ["gym.example"] });
  const send = async (headers: Record<string, string>) => {
    const reply = await request(`${url}/echo`, { method: "POST", body: '{"input":"hi"}', headers });
    return { status: reply.statusCode, body: await reply.body.json() };
  };
  const json = { "content-type": "application/json" };
  const own = `127.0.0.1:${port}`;
  expect(await send({ ...json })).toEqual({ status: 200, body: { input: "hi" } });
  expect(await send({ ...json, host: "gym.example" })).toMatchObject({ status: 200 });
  expect(await send({ ...json, host: "evil.example" })).toEqual({
    status: 403,
    body: {
      detail:
        "'evil.example' is not a name of this server. To allow it, add evil.example to allowed_hosts in the config.",
    },
  });
  expect(await send({ ...json, origin: "http://evil.example" })).toMatchObject({ status: 403 });
  expect(await send({ ...json, origin: "null" })).toMatchObject({ status: 403 });
  expect(await send({ ...json, origin: `http://${own}` })).toMatchObject({ status: 200 });
  expect(await send({ "content-type": "text/plain" })).toMatchObject({ status: 415 });
});

it("does not count the time in which the server itself was busy", async () => {
  const { port } = await listen({ headersTimeoutMs: 100, requestTimeoutMs: 100 });
  const socket = connect(port, "127.0.0.1");
  const answer = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write("POST /echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}");
  const until = performance.now() + 500;
  while (performance.now() < until);
  expect(await answer).toMatch(/^HTTP\/1.1 200 /);
  socket.destroy();
});

it("ends a later request on a connection that arrives byte by byte", async () => {
  const { port } = await listen({ headersTimeoutMs: 200 });
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += String(data);
  });
  socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  await expect.poll(() => text).toContain("200 OK");
  socket.write("GET / HTTP/1.1\r\nx: ");
  const timer = setInterval(() => socket.write("a"), 50);
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(timer);
  expect(text).toContain("408 Request Timeout");
});

it("answers probes by all their names", async () => {
  const { url } = await listen();
  for (const path of ["/", "/health", "/healthz", "/livez", "/readyz"]) {
    const reply = await request(`${url}${path}`);
    expect([path, reply.statusCode, await reply.body.json()]).toEqual([path, 200, { status: "ok" }]);
  }
});

it("is ready as head server when its servers are published", async () => {
  const port = nextPort++;
  const head = await startHeadServer({
    host: "127.0.0.1",
    port,
    publicYaml: "",
    privateYaml: "",
    token: "t",
  });
  try {
    const statusOf = async (path: string) => (await request(`${head.url}${path}`)).statusCode;
    expect([await statusOf("/"), await statusOf("/livez"), await statusOf("/readyz")]).toEqual([
      200, 200, 503,
    ]);
    head.publish([]);
    expect([await statusOf("/health"), await statusOf("/readyz")]).toEqual([200, 200]);
  } finally {
    await head.close();
  }
});
