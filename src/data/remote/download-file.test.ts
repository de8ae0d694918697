import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultServer, sendBytes } from "../../../tests/support/fault-server.ts";
import { type DownloadOptions, downloadFile } from "./download-file.ts";

const retries = { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 };
const token = "glpat-secret-token";

let content = Buffer.alloc(300_000, "0123456789abcdef");
let headers: Record<string, string> = {};
let server: FaultServer;
let directory: string;

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const ranges = () => server.requests.map((request) => request.headers.range);

function download(options: Partial<DownloadOptions> = {}) {
  return downloadFile({
    url: `${server.url}/file?signature=abc`,
    destination: path.join(directory, "deep", "data.jsonl"),
    headers: { authorization: `Bearer ${token}` },
    secrets: [token],
    retries,
    ...options,
  });
}

const result = () => readFile(path.join(directory, "deep", "data.jsonl"));
const files = () => readdir(path.join(directory, "deep"));

beforeEach(async () => {
  content = Buffer.alloc(300_000, "0123456789abcdef");
  headers = { etag: `"${sha256(content)}"` };
  directory = await mkdtemp(path.join(tmpdir(), "gym-download-"));
  server = await new FaultServer((request, response) =>
    sendBytes(request, response, content, headers),
  ).start();
});

afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

describe("downloadFile", () => {
  it("downloads a file, creates its directory and leaves nothing else behind", async () => {
    const seen: number[] = [];
    const outcome = await download({ onProgress: ({ done, total }) => seen.push(done, total ?? -1) });
    expect(outcome).toMatchObject({ bytes: content.length, resumedFrom: 0 });
    expect((await result()).equals(content)).toBe(true);
    expect(await files()).toEqual(["data.jsonl"]);
    expect(seen.slice(0, 2)).toEqual([0, content.length]);
    expect(seen.slice(-2)).toEqual([content.length, content.length]);
  });

  it("rejects a file above the limit", async () => {
    await expect(download({ maxBytes: 100_000 })).rejects.toThrow("sends more than 0.0001 GB.");
    await expect(download({ maxBytes: content.length })).resolves.toMatchObject({ bytes: content.length });
  });

  it("continues after an interrupted connection", async () => {
    server.fail({ match: /GET \/file/, breakAfterBytes: 100_000 });
    const retried: string[] = [];
    await download({ etagIsAddress: true, onRetry: (error) => retried.push(error.code) });
    expect((await result()).equals(content)).toBe(true);
    expect(retried).toEqual(["REMOTE_INCOMPLETE"]);
    expect(ranges()).toEqual([undefined, "bytes=100000-"]);
  });

  it("continues the download of an earlier run", async () => {
    server.fail({ match: /GET/, breakAfterBytes: 50_000, times: 9 });
    await expect(download({ retries: { ...retries, attempts: 1 } })).rejects.toMatchObject({
      code: "REMOTE_INCOMPLETE",
    });
    expect(existsSync(path.join(directory, "deep", "data.jsonl"))).toBe(false);
    const second = new FaultServer((request, response) => sendBytes(request, response, content, headers));
    await second.start();
    try {
      const outcome = await download({ url: `${second.url}/file` });
      expect(outcome.resumedFrom).toBe(50_000);
      expect(second.requests[0]?.headers.range).toBe("bytes=50000-");
      expect((await result()).equals(content)).toBe(true);
    } finally {
      await second.close();
    }
  });

  it("starts again if the content has changed", async () => {
    server.fail({ match: /GET/, breakAfterBytes: 50_000 });
    await download({
      onRetry: () => {
        content = Buffer.alloc(120_000, "fresh");
        headers = { etag: '"other"' };
      },
    });
    expect((await result()).equals(content)).toBe(true);
    expect(ranges()).toEqual([undefined, "bytes=50000-", undefined]);
  });

  it("does not continue if the server reports no identity", async () => {
    headers = {};
    server.fail({ match: /GET/, breakAfterBytes: 50_000 });
    await download();
    expect((await result()).equals(content)).toBe(true);
    expect(ranges()).toEqual([undefined, undefined]);
  });

  it("completes a part that was not renamed", async () => {
    await download();
    await rm(path.join(directory, "deep", "data.jsonl"));
    await writeFile(path.join(directory, "deep", "data.jsonl.part"), content);
    await writeFile(
      path.join(directory, "deep", "data.jsonl.part.json"),
      JSON.stringify({ identity: headers.etag }),
    );
    const outcome = await download({ etagIsAddress: true });
    expect(outcome.resumedFrom).toBe(content.length);
    expect((await result()).equals(content)).toBe(true);
  });

  it("rejects content with a wrong checksum", async () => {
    server.fail({ match: /GET/, corrupt: true });
    await expect(download({ etagIsAddress: true })).rejects.toMatchObject({
      code: "REMOTE_CHECKSUM_MISMATCH",
      message: expect.stringContaining(`expected ${sha256(content)}`),
    });
    expect(await files()).toEqual([]);
  });

  it("downloads the whole file again if the part of an earlier run is damaged", async () => {
    server.fail({ match: /GET/, breakAfterBytes: 50_000, corrupt: true });
    await download({ etagIsAddress: true });
    expect((await result()).equals(content)).toBe(true);
    expect(ranges()).toEqual([undefined, "bytes=50000-", undefined]);
  });

  it("checks the checksum in a header", async () => {
    headers = { "x-checksum-sha256": "0".repeat(64) };
    await expect(download()).rejects.toMatchObject({ code: "REMOTE_CHECKSUM_MISMATCH" });
    headers = { digest: `sha-256=${createHash("sha256").update(content).digest("base64")}` };
    expect((await download()).checksum?.hex).toBe(sha256(content));
  });

  it("waits for Retry-After and fails after the last attempt", async () => {
    server.fail({ match: /GET/, status: 429, headers: { "retry-after": "0.02" }, times: 2 });
    const waits: number[] = [];
    await download({ onRetry: (_error, delay) => waits.push(delay) });
    expect(waits.map((wait) => Math.floor(wait / 10))).toEqual([2, 2]);
    server.fail({ match: /GET/, status: 503, times: 9 });
    await expect(download()).rejects.toMatchObject({ code: "REMOTE_FAILED", status: 503 });
  });

  it.each([
    [401, "REMOTE_UNAUTHORIZED"],
    [403, "REMOTE_FORBIDDEN"],
    [404, "REMOTE_NOT_FOUND"],
  ])("reports %d immediately and does not show the key", async (status, code) => {
    server.fail({ match: /GET/, status, body: { error: `token ${token} rejected` } });
    const error = await download().catch((caught: unknown) => caught as Error);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).toContain(`${status} from 127.0.0.1`);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(token);
    expect(server.requests).toHaveLength(1);
  });

  it("does not send the key to another origin", async () => {
    const store = await new FaultServer((request, response) =>
      sendBytes(request, response, content, {}),
    ).start();
    const hub = await new FaultServer((_request, response) => {
      const location = `${store.url}/object?X-Signature=1`;
      response
        .writeHead(302, { location, "x-linked-etag": `"${sha256(content)}"`, "x-linked-size": "300000" })
        .end();
    }).start();
    try {
      const outcome = await download({ url: `${hub.url}/file`, etagIsAddress: true });
      expect(outcome.checksum).toEqual({ algorithm: "sha256", hex: sha256(content) });
      expect(hub.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
      expect(store.requests[0]?.headers.authorization).toBeUndefined();
    } finally {
      await Promise.all([store.close(), hub.close()]);
    }
  });

  it("reports the host that cannot be reached", async () => {
    await server.close();
    await expect(download({ retries: { ...retries, attempts: 2 } })).rejects.toMatchObject({
      code: "REMOTE_UNREACHABLE",
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED/),
    });
  });

  it("stops when aborted and keeps the part", async () => {
    const abort = new AbortController();
    const run = download({ signal: abort.signal, onProgress: ({ done }) => done > 0 && abort.abort() });
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(await files()).toEqual(["data.jsonl.part", "data.jsonl.part.json"]);
  });
});

it("names the host that sent the file after a redirect", async () => {
  const elsewhere = server.url.replace("127.0.0.1", "localhost");
  const redirecting = await new FaultServer((_request, response) => {
    response.writeHead(302, { location: `${elsewhere}/file` }).end();
  }).start();
  try {
    const { host } = await download({ url: `${redirecting.url}/file` });
    expect(host).toBe(new URL(elsewhere).host);
  } finally {
    await redirecting.close();
  }
});
