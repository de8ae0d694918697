import dns from "node:dns";
import { setMaxListeners } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { faults } from "../../testing/endpoint-server.ts";
import { MockModelEndpoint, type MockModelOptions } from "../../testing/mock-model-endpoint.ts";
import type { Response } from "../../wire/schemas/responses.ts";
import { ValidationError } from "../../wire/schemas/validation.ts";
import type { ServerContext } from "../calls/server-client.ts";
import { billedResponse } from "./cost.ts";
import { forgetEndpoints, replicaOf } from "./endpoint.ts";
import { type OpenProviderOptions, openProvider } from "./open-provider.ts";
import type { Provider } from "./provider.ts";
import type { ProviderReply } from "./provider-call.ts";
import { type ProviderSettings, providerConfig } from "./settings.ts";

const endpoints: MockModelEndpoint[] = [];
const directories: string[] = [];
const logged: string[] = [];

afterEach(async () => {
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
  await Promise.all(
    directories.splice(0).map((directory) => rm(directory, { recursive: true, maxRetries: 5 })),
  );
  logged.length = 0;
  forgetEndpoints();
});

async function endpoint(options: MockModelOptions = {}): Promise<MockModelEndpoint> {
  const started = await new MockModelEndpoint(options).start();
  endpoints.push(started);
  return started;
}

function provider(
  baseUrl: string | string[],
  settings: Partial<Record<keyof ProviderSettings, unknown>> = {},
  options: Partial<OpenProviderOptions> = {},
  globalConfig = {},
): Promise<Provider> {
  const note = (message: string) => {
    logged.push(message);
  };
  const config = z.object(providerConfig()).parse({ retry_first_pause_seconds: 0.01, ...settings });
  const server = {
    name: "model",
    directory: "/somewhere/responses_api_models/some_model",
    config,
    globalConfig,
    log: { debug: note, info: note, warn: note, error: note },
    findFile: (path: string) => path,
  } as unknown as ServerContext<ProviderSettings>;
  return openProvider(server, { baseUrl, baseUrlKey: "base_url", apiKey: "k", model: "m", ...options });
}

const signal = new AbortController().signal;
setMaxListeners(0, signal);
const call = { path: "/responses", body: { input: "hi" }, signal, read: (body: unknown) => body };

/** An address without a listener. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}

describe("replicas", () => {
  it.each([
    ["11111111-2222-4333-8444-555555555555", 0, 1, 2],
    ["demo-session-b", 1, 2, 1],
  ])("places session %s", (session, two, three, four) => {
    expect([replicaOf(session, 2), replicaOf(session, 3), replicaOf(session, 4)]).toEqual([two, three, four]);
  });

  it("keeps a session with its replica and leaves a dead replica at once", async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    const made = await provider([a.baseUrl, b.baseUrl]);
    for (let index = 0; index < 5; index++) await made.call({ ...call, sessionId: "demo-session-b" });
    expect([a.count, b.count]).toEqual([0, 5]);
    await b.close();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => made.call({ ...call, sessionId: "demo-session-b" })),
    );
    expect(replies.map(({ replica }) => replica)).toEqual([0, 0, 0, 0, 0]);
    expect(a.count).toBe(5);
  });

  it("keeps all attempts of a rollout with one replica, for any session and worker", async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    const urls = [a.baseUrl, b.baseUrl];
    for (const [session, rolloutId] of [
      ["s1", "7-3"],
      ["s2", "7-3"],
      ["s3", "7-3-a1"],
      ["s4", "7-3-a12"],
    ]) {
      // A separate provider simulates another worker.
      const made = await provider(urls);
      await made.call({ ...call, sessionId: session ?? "", rolloutId });
    }
    expect([a.count, b.count].sort()).toEqual([0, 4]);
    expect(replicaOf("7-3", 2)).toBe(a.count === 4 ? 0 : 1);
    const made = await provider(urls);
    for (let task = 0; task < 40; task++)
      await made.call({ ...call, sessionId: "s", rolloutId: `${task}-0` });
    expect(Math.min(a.count, b.count)).toBeGreaterThan(8);
  });
});

describe("limits", () => {
  it("do not depend on jumps of the clock", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const api: MockModelEndpoint = await endpoint({
        faultFor: () => {
          vi.setSystemTime(Date.now() + 20 * 24 * 3600 * 1000);
          return api.count < 4 ? faults.serverError() : undefined;
        },
      });
      const made = await provider(api.baseUrl, { retry_seconds: 60 });
      await made.call(call);
      expect(api.count).toBe(4);
    } finally {
      vi.useRealTimers();
    }
  });

  it("ends after the time limit when nothing answers, and waits once for all calls", async () => {
    const made = await provider(await deadUrl(), { retry_seconds: 1.5, retry_attempts: null });
    const started = Date.now();
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => made.call(call)));
    const took = Date.now() - started;
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    const [first] = results as PromiseRejectedResult[];
    expect(first?.reason.failure).toMatchObject({ class: "connection", stage: "model", retryable: true });
    expect(first?.reason.message).toMatch(/^no connection to 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    expect(took).toBeLessThan(10_000);
    await expect(made.call(call)).rejects.toThrow("down for");
    expect(logged.filter((line) => line.includes("calls wait until it answers again"))).toHaveLength(1);
  });

  it("says once that an endpoint is down, however long the outage is", async () => {
    const made = await provider(await deadUrl(), { retry_seconds: 2, retry_attempts: null });
    let hours = 0;
    const clock = process.hrtime.bind(process);
    const hrtime = vi.spyOn(process, "hrtime").mockImplementation(((since?: [number, number]) => {
      const [seconds, nanoseconds] = clock(since);
      return [seconds + hours * 3600, nanoseconds];
    }) as typeof process.hrtime);
    onTestFinished(() => hrtime.mockRestore());
    const calls = () => Promise.allSettled(Array.from({ length: 10 }, () => made.call(call)));
    await calls();
    for (hours of [1, 2]) await calls();
    const warnings = logged.filter((line) => !line.startsWith("[model_retry"));
    expect(warnings).toEqual([
      expect.stringContaining("trying again (attempt 1"),
      expect.stringContaining("calls wait until it answers again"),
    ]);
  });

  it("outlasts an outage with a single call and any number of probes", async () => {
    const known = await endpoint();
    const { baseUrl } = known;
    await known.close();
    const made = await provider(baseUrl, { retry_attempts: 9, retry_longest_pause_seconds: 0.02 });
    const answered = made.call(call);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await endpoint({ port: Number(new URL(baseUrl).port) });
    expect((await answered).cached).toBe(false);
    expect(logged.some((line) => line.includes("answers again after"))).toBe(true);
  });

  it("does not wait for a quota that resets after the time limit", async () => {
    const used = await endpoint({ faultFor: () => faults.rateLimited(3_600) });
    const made = await provider(used.baseUrl, {}, { maxConcurrent: null });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => made.call(call)));
    const later = await Promise.allSettled([made.call(call), made.call(call)]);
    for (const result of [...results, ...later]) {
      expect((result as PromiseRejectedResult).reason.failure).toMatchObject({
        class: "provider_rate_limit",
        retryable: true,
      });
    }
    expect(used.count).toBe(5);
  });

  it("shares the limit with all callers of the same endpoint, model and key", async () => {
    const busy = await endpoint();
    const [a, b] = [await provider(busy.baseUrl), await provider(busy.baseUrl)];
    const other = await provider(busy.baseUrl, {}, { model: "another" });
    busy.fail(faults.rateLimited(3));
    const started = Date.now();
    const answered: string[] = [];
    const first = a.call(call).then(() => answered.push("first"));
    await expect.poll(() => busy.count).toBe(1);
    await other.call(call);
    expect(answered).toEqual([]);
    await b.call(call);
    expect(Date.now() - started).toBeGreaterThan(3_000);
    await first;
  });

  it("aborts a slow attempt and retries", async () => {
    const slow = await endpoint();
    slow.fail(faults.silence());
    const made = await provider(slow.baseUrl, { request_timeout_seconds: 0.1 });
    expect((await made.call(call)).cached).toBe(false);
    expect(slow.count).toBe(2);
  });

  it("waits through a pause that is within the time limit", async () => {
    const paused = await endpoint();
    paused.pause();
    const made = await provider(paused.baseUrl);
    const calls = Promise.all(Array.from({ length: 20 }, () => made.call(call)));
    setTimeout(() => paused.resume(), 500);
    await calls;
    expect(paused.count).toBe(20);
  });

  it("stops at once when the caller aborts, in flight and in the queue", async () => {
    const silent = await endpoint({ faultFor: () => faults.silence() });
    const made = await provider(silent.baseUrl, {}, { maxConcurrent: 1 });
    const controller = new AbortController();
    const calls = [1, 2, 3].map(() => made.call({ ...call, signal: controller.signal }));
    const ended = Promise.allSettled(calls);
    await expect.poll(() => silent.count).toBe(1);
    controller.abort(new Error("enough"));
    const results = await ended;
    expect(results.map((result) => (result as PromiseRejectedResult).reason.message)).toEqual([
      "enough",
      "enough",
      "enough",
    ]);
    expect(silent.count).toBe(1);
  });

  it.each([
    ["no JSON", "<html>hello</html>", "the body is not JSON"],
    ["another object", '{"foo":1}', "the body does not fit"],
    ["nothing", "", "the body is empty"],
  ])("makes only a few attempts when the answer is %s, and reports it at once", async (_, body, problem) => {
    const odd = await endpoint({ other: () => ({ status: 200, body }) });
    const made = await provider(odd.baseUrl);
    const read = () => {
      throw new ValidationError([{ type: "missing", loc: ["output"], msg: "Field required", input: {} }]);
    };
    await expect(made.call({ ...call, path: "/odd", read })).rejects.toMatchObject({
      failure: { class: "invalid_response", retryable: true },
      message: expect.stringContaining("gave up after 3 attempts"),
    });
    expect(odd.count).toBe(3);
    const warnings = logged.filter((line) => line.includes("trying again (attempt 1 of 3 failed"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(problem);
  });

  it("counts these attempts separately from attempts at a busy endpoint", async () => {
    const mixed = await endpoint();
    const busy = Array.from({ length: 3 }, () => faults.serverError(500));
    mixed.fail(...busy, faults.garbage(), ...busy, faults.garbage());
    const made = await provider(mixed.baseUrl);
    expect((await made.call(call)).cached).toBe(false);
    expect(mixed.count).toBe(9);
  });

  it("warns of failed answers as well as refusals", async () => {
    const failing = await endpoint({ faultFor: () => faults.serverError(500) });
    const made = await provider(failing.baseUrl, { retry_attempts: 4 });
    await expect(made.call(call)).rejects.toThrow("gave up after 4 attempts");
    const warnings = logged.filter((line) => line.startsWith("500 from"));
    expect(warnings).toEqual([expect.stringContaining("trying again (attempt 1 of 4 failed, after 0 s)")]);
  });

  it("names the limit of concurrent calls in a warning only if refusals lowered it", async () => {
    const rejecting = await endpoint({ faultFor: () => faults.rateLimited() });
    const fixed = await provider(rejecting.baseUrl, { retry_attempts: 2, adaptive_concurrency: false });
    await expect(fixed.call(call)).rejects.toThrow("gave up after 2 attempts");
    const warnings = () => logged.filter((line) => line.startsWith("429 from"));
    expect(warnings()).toEqual([expect.stringContaining("trying again (attempt 1 of 2 failed")]);
    const adaptive = await provider(rejecting.baseUrl);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const calls = Array.from({ length: 20 }, () => adaptive.call({ ...call, signal: stop.signal }));
    await vi.waitFor(() =>
      expect(warnings().at(-1)).toMatch(/at most \d{1,3} concurrent calls from now on$/),
    );
    stop.abort();
    await Promise.allSettled(calls);
  });

  it("does not wait for a host whose name is not found", async () => {
    const lookup = vi.spyOn(dns, "lookup").mockImplementation(((...words: unknown[]) => {
      const problem = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
      queueMicrotask(() => (words.at(-1) as (error: Error) => void)(problem));
    }) as never);
    onTestFinished(() => lookup.mockRestore());
    const made = await provider("http://no-such-host.invalid/v1");
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => made.call(call)));
    for (const result of results) {
      const { reason } = result as PromiseRejectedResult;
      expect(reason.failure).toMatchObject({ class: "connection", stage: "model", retryable: true });
      expect(reason.message).toMatch(
        /^no connection to no-such-host\.invalid: .*check the address.*3 attempts/,
      );
    }
    expect(lookup).toHaveBeenCalledTimes(60);
    expect(logged.filter((line) => line.includes("trying again"))).toHaveLength(1);
  });

  it("rejects answers that are too large, without a retry", async () => {
    const large = await endpoint({ answer: () => ({ text: "x".repeat(300_000) }) });
    const made = await provider(large.baseUrl, { max_response_mb: 0.1 });
    await expect(made.call(call)).rejects.toMatchObject({
      failure: { class: "invalid_response", retryable: false },
    });
    expect(large.count).toBe(1);
  });

  it("does not follow redirects, so keys stay with their host", async () => {
    const other = await endpoint({
      other: () => ({ status: 302, headers: { location: "http://example.com" }, body: "" }),
    });
    const made = await provider(other.baseUrl, { retry_attempts: 5 });
    await expect(made.call({ ...call, path: "/elsewhere" })).rejects.toThrow(
      "/v1/elsewhere: it redirects to http://example.com, but redirects are not followed",
    );
    expect(other.count).toBe(1);
  });

  it("applies the limit of the server", async () => {
    const busy = await endpoint({ latencyMs: 20 });
    const made = await provider(busy.baseUrl, {}, { maxConcurrent: 3 });
    await Promise.all(Array.from({ length: 12 }, () => made.call(call)));
    expect(busy.peak).toBe(3);
  });

  it("reports how long a call waited for a slot", async () => {
    const busy = await endpoint({ latencyMs: 40 });
    const made = await provider(busy.baseUrl, {}, { maxConcurrent: 1 });
    const replies = await Promise.all([made.call(call), made.call(call)]);
    const [first, second] = replies.map(({ waitedMs }) => waitedMs);
    expect(first).toBeLessThan(20);
    expect(second).toBeGreaterThanOrEqual(30);
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const billed = billedResponse({ ...replies[1], value: { usage } } as unknown as ProviderReply<Response>);
    expect(billed.usage).toMatchObject({ ng_waited_ms: second });
  });
});

describe("a wrong config", () => {
  it.each(["/v1/chat/completions", "/v1/responses/", "/v1/messages", "/v1/completions"])(
    "is told of a base URL that ends in %s",
    async (path) => {
      await expect(provider(`https://api.example.com${path}`)).rejects.toThrow("write only the part before");
    },
  );

  it("is rejected for headers and bodies that cannot be sent", async () => {
    const url = "https://api.example.com/v1";
    await expect(provider(url, {}, { headers: { "X-A": "line\nbreak" } })).rejects.toMatchObject({
      code: "PROVIDER_HEADER",
    });
    await provider(`${url}/responses-gateway`, {}, { headers: { "X-A": "fine" } });
  });

  it("is reported with a path that does not exist", async () => {
    const lost = await endpoint({ other: () => ({ status: 404, body: "<title>404 Not Found</title>" }) });
    const made = await provider(lost.baseUrl);
    await expect(made.call({ ...call, path: "/nothing" })).rejects.toThrow(
      /^404 from 127\.0\.0\.1:\d+\/v1\/nothing: 404 Not Found$/,
    );
  });

  it("is reported with the pause that an endpoint requests", async () => {
    const busy = await endpoint({
      other: () => ({ status: 429, headers: { "retry-after": "99999999" }, body: "later" }),
    });
    const made = await provider(busy.baseUrl, { retry_seconds: 60 });
    // The second call is not sent and fails with the same error.
    for (let time = 0; time < 2; time++) {
      await expect(made.call({ ...call, path: "/busy" })).rejects.toThrow(
        /: later; it asks to wait 99999999 s, more than retry_seconds \(60\)$/,
      );
    }
    expect(busy.count).toBe(1);
  });
});

describe("keys", () => {
  it("reads a key file again when the key is rejected", async () => {
    const directory = await mkdtemp(join(tmpdir(), "gym-key-"));
    directories.push(directory);
    const file = join(directory, "key");
    await writeFile(file, "first-key-000\n");
    const guarded = await endpoint({ apiKey: "second-key-111" });
    const made = await provider(guarded.baseUrl, { api_key_file: file });
    await expect(made.call(call)).rejects.toMatchObject({ failure: { class: "provider_auth" } });
    await writeFile(file, "second-key-111\n");
    expect((await made.call(call)).cost).toBeNull();
    expect(JSON.stringify(made)).not.toContain("key-111");
    await writeFile(file, "two words");
    await expect(provider(guarded.baseUrl, { api_key_file: file })).rejects.toThrow(
      "must contain exactly one key",
    );
  });

  it("are sent without white space around them, and never shown", async () => {
    const guarded = await endpoint({ apiKey: "sk-SECRET-abcdef1234567890" });
    const made = await provider(guarded.baseUrl, {}, { apiKey: " sk-SECRET-abcdef1234567890\n" });
    await made.call(call);
    const rude = await endpoint({
      faultFor: ({ headers }) => ({
        kind: "status",
        status: 401,
        message: `bad ${headers["authorization"]}`,
      }),
    });
    const rejected = await provider(rude.baseUrl, {}, { apiKey: "sk-SECRET-abcdef1234567890 " });
    await expect(rejected.call(call)).rejects.toThrow(/bad Bearer \*\*\*\*$/);
  });

  it.each(["sk-1234…abcd", "ключ", "two\nlines"])(
    "that no header can carry (%j) are rejected at once",
    async (apiKey) => {
      const made = provider("http://127.0.0.1:9/v1", {}, { apiKey });
      await expect(made).rejects.toMatchObject({ code: "PROVIDER_API_KEY" });
      await expect(made).rejects.not.toThrow(apiKey);
    },
  );

  it("are removed from answers that repeat the request", async () => {
    const key = "sk-SECRET-abcdef1234567890";
    const echo = await endpoint({
      other: ({ headers }) => ({ status: 200, body: JSON.stringify({ said: headers["authorization"] }) }),
    });
    const made = await provider(echo.baseUrl, {}, { apiKey: key });
    const { value } = await made.call({ ...call, path: "/echo" });
    expect(value).toEqual({ said: "Bearer ****" });
  });

  it("are removed from messages, also those in headers", async () => {
    const rude = await endpoint({
      faultFor: ({ headers }) => ({
        kind: "status",
        status: 400,
        message: `you sent ${JSON.stringify(headers)}`,
      }),
    });
    const made = await provider(
      rude.baseUrl,
      {},
      {
        apiKey: "topsecret-key-1",
        headers: { "X-Gateway-Token": "topsecret-token-2" },
      },
    );
    await expect(made.call(call)).rejects.toSatisfy((error: Error & { body: string }) => {
      expect(error.message).toContain("you sent");
      return !/topsecret/.test(error.message + error.body);
    });
  });
});

describe("money", () => {
  it("refuses to start when max_cost cannot be enforced", async () => {
    await expect(provider("https://api.example.com/v1", { max_cost: 1 })).rejects.toThrow(
      "price of 'm' is not known",
    );
    await expect(provider("https://api.example.com/v1", {}, {}, { max_cost: 1 })).rejects.toThrow("max_cost");
    await provider("https://api.example.com/v1", { max_cost: 1 }, { model: "gpt-4.1" });
    await provider("https://api.example.com/v1", { max_cost: 1 }, { statesCost: true });
    await expect(provider("https://api.example.com/v1", { max_cost: 1 })).rejects.toThrow(
      "'++model.responses_api_models.some_model.prices={input: 1.0, output: 4.0}'",
    );
    await provider("http://localhost:8000/v1", { max_cost: 1 }, { free: true });
    for (const max_cost of ["a lot", -1, true, Number.NaN]) {
      await expect(provider("http://localhost:8000/v1", {}, {}, { max_cost })).rejects.toThrow(
        "max_cost must be a number of dollars",
      );
    }
    await provider("https://api.example.com/v1", {}, { model: "gpt-4.1" }, { max_cost: "2.5" });
  });

  it("is also counted for the local machine, because of tunnels and proxies", async () => {
    const local = await endpoint();
    await expect(provider(local.baseUrl, { max_cost: 1 })).rejects.toThrow("price of 'm' is not known");
    const prices = { input: 1_000_000, output: 1_000_000 };
    const made = await provider(local.baseUrl, { max_cost: 1, prices });
    await made.call(call);
    await expect(made.call(call)).rejects.toMatchObject({
      failure: { class: "budget_exhausted" },
    });
    expect(() => provider(local.baseUrl, { prices: { ...prices, outptu: 3 } })).toThrow("outptu");
  });

  it("reports once that an endpoint sends no cost or usage", async () => {
    const silent = await endpoint();
    const lookup = vi.spyOn(dns, "lookup").mockImplementation(((...words: unknown[]) => {
      const found = [{ address: "127.0.0.1", family: 4 }];
      queueMicrotask(() => (words.at(-1) as (error: null, found: unknown) => void)(null, found));
    }) as never);
    onTestFinished(() => lookup.mockRestore());
    const url = silent.baseUrl.replace("127.0.0.1", "router.example");
    const made = await provider(url, {}, { statesCost: true }, { max_cost: 1 });
    await made.call(call);
    await made.call(call);
    expect(logged.filter((line) => line.includes("did not report the cost of a call"))).toHaveLength(1);
  });
});

describe("cache", () => {
  /** The number of answers in a cache. */
  const kept = async (directory: string) =>
    (await readdir(directory, { recursive: true })).filter((name) => name.endsWith(".json")).length;

  it("answers equal requests from the cache, marked and unbilled, but not other repeats", async () => {
    const directory = await mkdtemp(join(tmpdir(), "gym-cache-"));
    directories.push(directory);
    const counted = await endpoint();
    const settings = { response_cache_dir: directory, prices: { input: 1, output: 1 } };
    const made = await provider(counted.baseUrl, settings);
    const first = await made.call({ ...call, rolloutId: "0-0" });
    expect(first.cost).toBeGreaterThan(0);
    await expect.poll(() => kept(directory)).toBe(1);
    const again = await (await provider(counted.baseUrl, settings)).call({ ...call, rolloutId: "0-0-a1" });
    expect(again).toMatchObject({ cached: true, cost: 0, value: first.value });
    expect((await made.call({ ...call, rolloutId: "0-1" })).cached).toBe(false);
    expect(counted.count).toBe(2);
  });

  it("depends on query and headers, but not on the key", async () => {
    const directory = await mkdtemp(join(tmpdir(), "gym-cache-"));
    directories.push(directory);
    const counted = await endpoint();
    const isCached = async (options: Parameters<typeof provider>[2]) => {
      const made = await provider(counted.baseUrl, { response_cache_dir: directory }, options);
      const before = await kept(directory);
      const { cached } = await made.call({ ...call, rolloutId: "0-0" });
      if (!cached) await expect.poll(() => kept(directory)).toBe(before + 1);
      return cached;
    };
    expect(await isCached({})).toBe(false);
    expect(await isCached({ query: { "api-version": "1" } })).toBe(false);
    expect(await isCached({ headers: { "Anthropic-Beta": "b" } })).toBe(false);
    expect(await isCached({ headers: { "anthropic-beta": "b", "X-Api-Key": "another-key-9" } })).toBe(true);
    expect(await isCached({ apiKey: "yet-another-key-10" })).toBe(true);
  });
});

it.each([
  ["nonsense", "is not a URL"],
  ["ftp://host/v1", "http: or https:"],
  ["https://user:pw@host/v1", "carries a user"],
  ["https://host/v1?key=1", "query"],
])("rejects %s as a URL without showing it", async (url, problem) => {
  await expect(provider(url)).rejects.toSatisfy((error: Error) => {
    expect(error.message).toContain(problem);
    return (
      error.message.startsWith("model.responses_api_models.some_model.base_url ") &&
      !error.message.includes("pw")
    );
  });
});

describe("answers of Python servers", () => {
  const answering = (text: string) =>
    endpoint({ faultFor: () => ({ kind: "status", status: 200, body: text }) });

  it("are read with NaN and Infinity, and counted with counts as text", async () => {
    const usage = '{"prompt_tokens": "1000000", "completion_tokens": "0"}';
    const { baseUrl } = await answering(`\uFEFF{"logprob": -Infinity, "usage": ${usage}}`);
    const client = await provider(baseUrl, { prices: { input: 3, output: 1 } });
    const { value, cost } = await client.call(call);
    expect(value).toMatchObject({ logprob: Number.NEGATIVE_INFINITY });
    expect(cost).toBe(3);
  });

  it("are reported with the position of invalid JSON", async () => {
    const { baseUrl } = await answering('{"id": 1,}');
    const client = await provider(baseUrl, { retry_attempts: 1 });
    await expect(client.call(call)).rejects.toThrow(/the body is not JSON \(.+\); it says: \{"id": 1,\}/);
  });
});
