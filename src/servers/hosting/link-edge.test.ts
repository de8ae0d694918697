import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { Links } from "../calls/link/links.ts";
import { RunClient } from "../calls/run-client.ts";
import { Reply } from "../calls/server-call.ts";
import { ServerApp } from "./app.ts";
import { MAX_REPLY_BYTES } from "./body.ts";
import { HttpEdge } from "./http-edge.ts";
import { LinkEdge } from "./link-edge.ts";

let directory = "";
const cleanUps: (() => unknown)[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "link-"));
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  rmSync(directory, { recursive: true, force: true });
});

let nextPort = 26_000 + (process.pid % 500) * 10;

class Waiting {
  started = 0;
  readonly aborted: unknown[] = [];
}

function demoApp(waiting = new Waiting()): ServerApp {
  return new ServerApp({
    name: "demo",
    type: "resources_servers",
    className: "Demo",
    get: { "/lines": () => ["a\nb", "c"] },
    post: {
      "/echo": ({ body, headers, sessionId }) => ({ body, tag: headers["x-tag"], sessionId }),
      "/boom": () => {
        throw new TypeError("bad thing");
      },
      "/hang": ({ signal }) => {
        waiting.started++;
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            waiting.aborted.push(signal.reason);
            reject(signal.reason);
          }),
        );
      },
    },
    log: silentLogger,
  });
}

async function linked(options: { app?: ServerApp; http?: boolean; retryAttempts?: number } = {}) {
  const socketPath = join(directory, "demo.sock");
  const app = options.app ?? demoApp();
  const edge = await LinkEdge.listen(new Map([["demo", app]]), socketPath);
  cleanUps.push(() => edge.close());
  const port = nextPort++;
  if (options.http) {
    const http = await HttpEdge.listen(app, { host: "127.0.0.1", port });
    cleanUps.push(() => http.close());
  }
  const client = new RunClient({
    addresses: new Map([["demo", `http://127.0.0.1:${port}`]]),
    links: new Links(new Map([["demo", socketPath]])),
    retry: { attempts: options.retryAttempts ?? 1, wallClockMs: 1_000, baseDelayMs: 1, maxDelayMs: 1 },
  });
  cleanUps.push(() => client.close());
  return { client, edge, app, socketPath };
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};

describe("a call to another process", () => {
  it("transfers body, headers and cookies in both directions", async () => {
    const { client } = await linked();
    const body = { text: "süß\n\u2028 \ud800 🙂", nested: [1, null, { a: 1e21 }] };
    const first = await client.post("demo", "/echo", body, { headers: { "x-tag": "t" } });
    expect(first).toMatchObject({ status: 200, ok: true });
    const { sessionId } = first.json() as { sessionId: string };
    expect(first.json()).toEqual({ body, tag: "t", sessionId });
    const again = await client.post("demo", "/echo", null, { cookies: first.cookies });
    expect(again.json()).toMatchObject({ body: null, sessionId });
    expect((await client.get("demo", "/lines")).json()).toEqual(["a\nb", "c"]);
  });

  it("transfers a text with line breaks unchanged", async () => {
    const app = demoApp();
    const handle = app.handle.bind(app);
    app.handle = async (call) => new Reply({ ...(await handle(call)), raw: '{\n  "a": 1\n}\n', cookies: {} });
    const { client } = await linked({ app });
    expect((await client.get("demo", "/")).text()).toBe('{\n  "a": 1\n}\n');
  });

  it("joins the frames of a streaming handler", async () => {
    const app = demoApp();
    app.handle = async () =>
      new Reply({
        stream: (async function* () {
          yield "data: 1\n\n";
          yield "data: 2\n\n";
        })(),
      });
    const { client } = await linked({ app });
    expect((await client.post("demo", "/any", {})).text()).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("answers errors as HTTP does", async () => {
    const { client } = await linked();
    const boom = await client.post("demo", "/boom", {});
    expect(boom).toMatchObject({ status: 500, ok: false });
    expect(boom.json()).toBe("TypeError('bad thing')");
    expect((await client.post("demo", "/nowhere", {})).status).toBe(404);
    const deep: unknown[] = [];
    const app = demoApp();
    app.handle = async () => new Reply({ body: endless(deep) });
    const unwritable = await (await linkedAgain(app)).post("demo", "/any", {});
    expect(unwritable.status).toBe(500);
    expect(unwritable.json()).toContain(
      "TypeError('the answer of POST /any is not JSON: Converting circular",
    );
  });

  it("fails only the call whose response is too large", async () => {
    const app = demoApp();
    const huge = "x".repeat(MAX_REPLY_BYTES + 1);
    app.handle = async ({ path }) => new Reply({ raw: path === "/huge" ? huge : '"small"' });
    const { client } = await linked({ app });
    const [large, ...others] = await Promise.all(
      ["/huge", "/a", "/b"].map((path) => client.post("demo", path, {})),
    );
    expect(large?.status).toBe(500);
    expect(large?.json()).toMatchObject({
      error: { class: "invalid_response", retryable: false, message: expect.stringContaining("257 MB") },
    });
    expect(others.map((reply) => reply.json())).toEqual(["small", "small"]);
  });

  it("separates thousands of calls in any order", async () => {
    const app = demoApp();
    app.handle = async ({ body }) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      return new Reply({ body });
    };
    const { client } = await linked({ app });
    const long = "x".repeat(3_000);
    const answers = await Promise.all(
      Array.from({ length: 3_000 }, async (_, n) => (await client.post("demo", "/any", { n, long })).json()),
    );
    expect(answers.every((answer, n) => (answer as { n: number }).n === n)).toBe(true);
  });

  it("cancels only the call whose caller aborts", async () => {
    const waiting = new Waiting();
    const { client } = await linked({ app: demoApp(waiting) });
    const controller = new AbortController();
    const given = client.post("demo", "/hang", {}, { signal: controller.signal });
    const other = client.post("demo", "/hang", {}, { timeoutMs: 300 });
    other.catch(() => {});
    await until(() => waiting.started === 2);
    controller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await until(() => waiting.aborted.length === 1);
    await expect(other).rejects.toThrow("did not answer within 0.3 s");
    await until(() => waiting.aborted.length === 2);
    await expect(
      client.post("demo", "/echo", {}, { signal: AbortSignal.abort(new Error("no")) }),
    ).rejects.toThrow("no");
  });

  it("is sent over HTTP if it is too long for the link", async () => {
    const { client, app } = await linked({ http: true });
    let longest = 0;
    const handle = app.handle.bind(app);
    app.handle = (call) => {
      // Only HTTP has a host.
      if (call.headers["host"]) longest = Math.max(longest, JSON.stringify(call.body).length);
      return handle(call);
    };
    await client.post("demo", "/echo", "x".repeat(5 * 1024 * 1024));
    await client.post("demo", "/echo", "short");
    expect(longest).toBeGreaterThan(5 * 1024 * 1024);
  });
});

describe("a process that ends", () => {
  it("fails running calls, which may have had an effect, and aborts their handlers", async () => {
    const waiting = new Waiting();
    const { client, edge } = await linked({ app: demoApp(waiting), http: true });
    const call = client.post("demo", "/hang", {});
    call.catch(() => {});
    await until(() => waiting.started === 1);
    edge.close();
    await expect(call).rejects.toMatchObject({
      code: "SERVER_CALL",
      info: {
        class: "connection",
        retryable: true,
        message: expect.stringContaining("has gone [ECONNRESET]"),
      },
    });
    expect(waiting).toMatchObject({ started: 1, aborted: [expect.any(Error)] });
  });

  it("is called over HTTP for idempotent calls and while it has no link", async () => {
    const { client, edge, app } = await linked({ http: true });
    await client.post("demo", "/echo", 1);
    const handle = app.handle.bind(app);
    app.handle = (call) => (call.headers["host"] ? handle(call) : new Promise(() => {}));
    const call = client.post("demo", "/echo", 2, { idempotent: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    edge.close();
    expect((await call).json()).toMatchObject({ body: 2 });
    expect((await client.post("demo", "/echo", 3)).json()).toMatchObject({ body: 3 });
  });

  it("is linked again after its restart", async () => {
    const { client, edge, app, socketPath } = await linked({ http: true });
    await client.post("demo", "/echo", 1);
    edge.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.post("demo", "/echo", 2);
    const back = await LinkEdge.listen(new Map([["demo", app]]), socketPath);
    cleanUps.push(() => back.close());
    let linkedCalls = 0;
    const handle = app.handle.bind(app);
    app.handle = (call) => {
      if (!call.headers["host"]) linkedCalls++;
      return handle(call);
    };
    while (linkedCalls === 0) {
      await client.post("demo", "/echo", 3);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it("a missing process leaves the call and its errors to HTTP", async () => {
    const { client, edge, socketPath } = await linked();
    edge.close();
    rmSync(socketPath, { force: true });
    await expect(client.post("demo", "/echo", 1)).rejects.toThrow("ECONNREFUSED");
  });
});

it("closes connections with an unknown protocol", async () => {
  const { client, socketPath } = await linked();
  for (const bytes of ["garbage\n", "{}\n", '"text"\nx\n']) {
    const stranger = connect(socketPath);
    stranger.write(bytes);
    await new Promise((resolve) => stranger.once("close", resolve).resume());
  }
  expect((await client.post("demo", "/echo", 1)).status).toBe(200);
});

async function linkedAgain(app: ServerApp): Promise<RunClient> {
  return (await linked({ app })).client;
}

function endless(list: unknown[]): unknown {
  list.push(list);
  return list;
}
