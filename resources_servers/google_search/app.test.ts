import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { browse, shorten } from "./browse.ts";
import { GuardedAgent } from "./guarded-agent.ts";

const paragraph =
  "Lighthouses were lit with coal before oil lamps made their beams reach further out to sea.";
const html = { "content-type": "text/html; charset=utf-8" };

/** The pages of the web in these tests. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://local");
  const redirect = (location: string) => response.writeHead(302, { location }).end();
  switch (url.pathname) {
    case "/page":
      response.writeHead(200, html).end(`<nav>Menu</nav><p>${paragraph}</p>`);
      return;
    case "/zipped":
      response.writeHead(200, { ...html, "content-encoding": "gzip" }).end(gzipSync(`<p>${paragraph}</p>`));
      return;
    case "/bomb":
      response
        .writeHead(200, { ...html, "content-encoding": "gzip" })
        .end(gzipSync(`<p>start ${"a".repeat(20_000_000)}`));
      return;
    case "/latin":
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9', "latin1"));
      return;
    case "/plain":
      response.writeHead(200, { "content-type": "text/plain" }).end(" just <text> ");
      return;
    case "/image":
      response.writeHead(200, { "content-type": "image/png" }).end("png");
      return;
    case "/empty":
      response.writeHead(200, html).end();
      return;
    case "/blank":
      response.writeHead(200, html).end("<script>1</script>");
      return;
    case "/loop":
      redirect("/loop");
      return;
    case "/moved":
      redirect("/page");
      return;
    case "/away":
      redirect(url.searchParams.get("to") ?? "");
      return;
    case "/slow":
      response.writeHead(200, html).write("<p>never");
      return;
    case "/endless": {
      response.writeHead(200, html);
      const more = () => {
        while (response.write("<p>more and more</p>".repeat(1000)));
        response.once("drain", more);
      };
      more();
      return;
    }
    case "/search":
      if (url.searchParams.get("q") === "wait") {
        response.write("{");
        return;
      }
      if (url.searchParams.get("q") === "fail")
        response.writeHead(429).end(`quota of key ${url.searchParams.get("key")}`);
      else if (url.searchParams.get("q") === "broken") response.end("<html>");
      else
        response.end(
          JSON.stringify({
            q: url.searchParams.get("q"),
            cx: url.searchParams.get("cx"),
            items: [{ title: "é" }],
          }),
        );
      return;
    default:
      response.writeHead(404, html).end("<p>not here</p>");
  }
}

let web: Server;
let origin: string;
let port: number;

beforeAll(async () => {
  web = createServer(answer);
  await new Promise<void>((resolve) => web.listen(0, "0.0.0.0", resolve));
  port = (web.address() as AddressInfo).port;
  origin = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
});

const keys = { google_api_key: "secret-key", google_cx: "engine" };
const serve = (options: Record<string, unknown> = {}) =>
  createTestServer(app, {
    config: { ...keys, search_endpoint: `${origin}/search`, allow_private_addresses: true, ...options },
  });
const page = async (path: string, options: Record<string, unknown> = {}) => {
  const server = await serve(options);
  const { status, body } = await server.tool("browse", { url: path.startsWith("/") ? origin + path : path });
  await server.close();
  expect(status).toBe(200);
  return body.page_content;
};

describe("search", () => {
  it("returns the reply as JSON in the format of Python", async () => {
    const server = await serve();
    const { body } = await server.tool("search", { query: "a & b" });
    expect(body).toEqual({
      search_results: '{"q": "a & b", "cx": "engine", "items": [{"title": "\\u00e9"}]}',
    });
  });

  it("stops at the time limit", async () => {
    const server = await serve({ search_timeout_seconds: 0.2 });
    expect((await server.tool("search", { query: "wait" })).body.search_results).toMatch(
      /^Error: Unexpected error - time limit/,
    );
  });

  it("reports errors to the model without the key", async () => {
    const server = await serve();
    const failed = await server.tool("search", { query: "fail" });
    expect(failed.status).toBe(200);
    expect(failed.body.search_results).toMatch(
      /^Error: Unexpected error - 429 from 127\.0\.0\.1:\d+: quota of key \*\*\*/,
    );
    expect((await server.tool("search", { query: "broken" })).body.search_results).toMatch(
      /^Error: Unexpected error - .*not JSON/,
    );
    expect((await server.tool("search", {})).status).toBe(422);
    const unreachable = await serve({ search_endpoint: "http://127.0.0.1:1/" });
    expect((await unreachable.tool("search", { query: "x" })).body.search_results).toMatch(
      /^Error: Unexpected error - /,
    );
  });
});

describe("browse", () => {
  it.each([
    ["/page", paragraph],
    ["/zipped", paragraph],
    ["/moved", paragraph],
    ["/latin", "café"],
    ["/plain", "just <text>"],
    ["/image", "No HTML found"],
    ["/empty", "No HTML found"],
    ["/missing", "No HTML found"],
    ["/blank", "No text found"],
    ["http://127.0.0.1:1/", "No HTML found"],
    ["/loop", "Error: Unexpected error = more than 5 redirects"],
    ["not a url", "Error: Unexpected error = not a web address: not a url"],
    ["file:///etc/passwd", "Error: Unexpected error = not a web address: file:///etc/passwd"],
    ["/away?to=file:///etc/passwd", "Error: Unexpected error = not a web address: file:///etc/passwd"],
  ])("answers %s with %j", async (path, text) => {
    expect(await page(path)).toBe(text);
  });

  it("stops at the size limit and at the time limit", async () => {
    expect(await page("/endless", { browse_max_bytes: 100_000 })).toContain("more and more");
    expect((await page("/bomb", { browse_max_bytes: 100_000 })).length).toBeLessThan(100_001);
    expect(await page("/slow", { browse_timeout_seconds: 0.3 })).toBe("No HTML found");
  });

  it("stops when the caller disconnects", async () => {
    const agent = new GuardedAgent(() => true);
    const controller = new AbortController();
    const limits = { maxBytes: 1000, maxRedirects: 0, timeoutMs: 60_000, userAgent: "test" };
    const reading = browse(`${origin}/slow`, agent, limits, controller.signal);
    setTimeout(() => controller.abort(), 50);
    await expect(reading).rejects.toThrow();
    await agent.close();
  });

  it.each([
    ...[
      "http://127.0.0.1/",
      "http://127.1/",
      "http://2130706433/",
      "http://0x7f.0.0.1/",
      "http://0/",
      "http://localhost/",
    ],
    ...[
      "http://[::1]/",
      "http://[::ffff:127.0.0.1]/",
      "http://169.254.169.254/latest/meta-data/",
      "http://10.0.0.1/",
    ],
  ])("refuses %s unless private addresses are allowed", async (url) => {
    expect(await page(url, { allow_private_addresses: false })).toMatch(
      /^Error: Unexpected error = .* is not on the public internet$/,
    );
  });
});

describe("the guarded agent", () => {
  const limits = { maxBytes: 10_000, maxRedirects: 3, timeoutMs: 5000, userAgent: "test" };
  const asked: string[] = [];
  const agent = new GuardedAgent(
    (address) => address === "127.0.0.1",
    async (hostname) => {
      asked.push(hostname);
      const address = { "good.test": "127.0.0.1", "evil.test": "127.0.0.2", "both.test": "127.0.0.1" }[
        hostname
      ];
      if (address === undefined) throw new Error(`no such host ${hostname}`);
      const also = hostname === "both.test" ? [{ address: "127.0.0.2", family: 4 }] : [];
      return [{ address, family: 4 }, ...also];
    },
  );
  const read = (url: string) => browse(url, agent, limits, new AbortController().signal);
  afterAll(() => agent.close());

  it("connects to the checked address and resolves names once", async () => {
    asked.length = 0;
    expect(await read(`http://good.test:${port}/page`)).toBe(paragraph);
    expect(asked).toEqual(["good.test"]);
  });

  it("checks every redirect", async () => {
    for (const target of [
      `http://evil.test:${port}/page`,
      `http://127.0.0.2:${port}/page`,
      `http://both.test:${port}/page`,
    ]) {
      await expect(read(`http://good.test:${port}/away?to=${encodeURIComponent(target)}`)).rejects.toThrow(
        /not on the public internet/,
      );
    }
    expect(await read(`http://good.test:${port}/away?to=/page`)).toBe(paragraph);
  });
});

describe("verify", () => {
  const row = { expected_answer: "C", task_difficulty_qwen3_32b_avg_8: 0.5 };

  it("rewards the boxed letter", async () => {
    const server = await serve();
    const right = await server.verify(verifyBody(row, messageItem("\\boxed{C}")));
    expect(right.body).toMatchObject({ reward: 1, parsed_option: "C" });
    expect(right.body).not.toHaveProperty("expected_answer");
    expect((await server.verify(verifyBody(row, messageItem("C")))).body).toMatchObject({
      reward: 0,
      parsed_option: null,
    });
    expect((await server.verify(verifyBody(row))).body).toMatchObject({ reward: 0, parsed_option: null });
  });

  it("refuses malformed rows and names the field", async () => {
    const server = await serve();
    for (const [field, value] of [
      ["expected_answer", 5],
      ["task_difficulty_qwen3_32b_avg_8", "hard"],
    ] as const) {
      const { status, body } = await server.verify(verifyBody({ ...row, [field]: value }));
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(["body", field]);
    }
  });

  it("rewards the correct answers of the example rows", async () => {
    const server = await serve();
    const lines = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const example = JSON.parse(line);
      expect(example.responses_create_params.input).toContain(`\n${example.expected_answer}: `);
      const answer = messageItem(`The answer is \\boxed{${example.expected_answer}}.`);
      expect((await server.verify(verifyBody(example, answer))).body.reward).toBe(1);
    }
  });

  it("requires its config keys", async () => {
    await expect(createTestServer(app, { config: { google_cx: "x" } })).rejects.toThrow(/google_api_key/);
  });
});

describe("shorten", () => {
  it("removes the middle of pages with too many words", () => {
    expect(shorten("a ".repeat(10_000))).toHaveLength(20_000);
    const long = `${"a ".repeat(10_000)}\u{1f600}`;
    expect(shorten(long)).toBe(`${"a ".repeat(2500)}...${`${"a ".repeat(2500)}\u{1f600}`.slice(1)}`);
  });
});
