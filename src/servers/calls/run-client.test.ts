import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { RunClient } from "./run-client.ts";
import { type AppCall, Reply } from "./server-call.ts";
import { type CallOptions, callServer } from "./server-client.ts";

const answer = (status: number, body: unknown) => new Reply({ status, body });
const clientOf = (handle: (call: AppCall) => Promise<Reply>) =>
  new RunClient({ addresses: new Map(), local: new Map([["harbour", { handle }]]) });
const post = (handle: (call: AppCall) => Promise<Reply>, options: CallOptions = {}) =>
  clientOf(handle).post("harbour", "/v1/responses", { a: 1 }, options);
const required = (handle: (call: AppCall) => Promise<Reply>, options: CallOptions = {}) =>
  callServer(clientOf(handle), {
    server: "harbour",
    path: "/v1/responses",
    body: {},
    stage: "model",
    ...options,
  });
const never = () => new Promise<never>(() => {});

describe("a call within the process", () => {
  it("passes the request and the answer unchanged", async () => {
    const seen: unknown[] = [];
    const reply = await post(
      async ({ method, path, body, headers, cookies, signal }) => {
        seen.push(method, path, body, headers, cookies, signal instanceof AbortSignal);
        return answer(404, { detail: "no" });
      },
      { headers: { h: "1" }, cookies: { c: "2" } },
    );
    expect(seen).toEqual(["POST", "/v1/responses", { a: 1 }, { h: "1" }, { c: "2" }, true]);
    expect([reply.status, reply.ok, reply.json()]).toEqual([404, false, { detail: "no" }]);
    expect(reply.payload()).toEqual({ body: { detail: "no" } });
  });

  it("parses text once, and forwards it unchanged", async () => {
    const reply = await post(async () => new Reply({ raw: '{"a": 1}' }));
    expect(reply.json()).toBe(reply.json());
    expect([reply.json(), reply.text(), reply.payload()]).toEqual([
      { a: 1 },
      '{"a": 1}',
      { raw: '{"a": 1}' },
    ]);
  });

  it("fails with its stage if success is required", async () => {
    await expect(required(async () => answer(503, { detail: "busy" }))).rejects.toMatchObject({
      status: 503,
      info: { stage: "model", class: "provider_error", retryable: true },
    });
    expect((await required(async () => answer(200, 1))).json()).toBe(1);
  });

  it("fails if the error body is not JSON", async () => {
    await expect(required(async () => answer(500, 1n))).rejects.toThrow("BigInt");
  });

  it("does not wait for a server that ignores its signal", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = post(never, { signal });
    controller.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(post(never, { signal })).rejects.toThrow("given up");
  });

  it("reports the time limit and the stage", async () => {
    await expect(required(never, { timeoutMs: 5, timeoutKey: "x_timeout_seconds" })).rejects.toMatchObject({
      message: "harbour /v1/responses did not answer within 0.005 s (x_timeout_seconds)",
      info: { class: "timeout", stage: "model", retryable: true },
    });
  });

  it("leaves no listener on a signal that outlives it", async () => {
    const { signal } = new AbortController();
    for (const timeoutMs of [null, 60_000]) {
      await post(async () => answer(200, null), { signal, timeoutMs });
      await expect(post(() => Promise.reject(new Error("x")), { signal, timeoutMs })).rejects.toThrow("x");
      const thrown = post(
        () => {
          throw new Error("at once");
        },
        { signal, timeoutMs },
      );
      await expect(thrown).rejects.toThrow("at once");
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("aborts the signal of its handler after the time limit", async () => {
    let reason: unknown;
    const waiting = post(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            resolve(answer(200, "too late"));
          });
        }),
      { timeoutMs: 5 },
    );
    await expect(waiting).rejects.toThrow("did not answer within 0.005 s");
    expect(reason).toEqual(new Error("time limit of 5 ms exceeded"));
  });
});
