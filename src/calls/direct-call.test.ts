import { describe, expect, it } from "vitest";
import { DirectCall, serverOf } from "./direct-call.ts";
import { LazySignal } from "./lazy-signal.ts";
import type { CallOptions } from "./server-client.ts";

const answer = (status: number, body: unknown) => ({ status, body, cookies: {} });
const call = (options: CallOptions, stage?: "model") =>
  new DirectCall("POST", "harbour", "/v1/responses", { a: 1 }, options, stage);
const never = serverOf(() => new Promise<never>(() => {}));

describe("DirectCall", () => {
  it("hands over what the server needs, and the answer as it is", async () => {
    const seen: unknown[] = [];
    const reply = await call({ headers: { h: "1" }, cookies: { c: "2" } }).send(
      serverOf(async ({ method, path, body, headers, cookies, signal }) => {
        seen.push(method, path, body, headers, cookies, signal instanceof AbortSignal);
        return answer(404, { detail: "no" });
      }),
    );
    expect(seen).toEqual(["POST", "/v1/responses", { a: 1 }, { h: "1" }, { c: "2" }, true]);
    expect([reply.status, reply.ok, reply.json()]).toEqual([404, false, { detail: "no" }]);
  });

  it("fails with its stage where it has to succeed", async () => {
    const refused = call({}, "model").send(serverOf(async () => answer(503, { detail: "busy" })));
    await expect(refused).rejects.toMatchObject({
      status: 503,
      info: { stage: "model", class: "model_error", retryable: true },
    });
    const ok = await call({}, "model").send(serverOf(async () => answer(200, 1)));
    expect(ok.json()).toBe(1);
  });

  it("fails, and does not hang, when the refusal is no JSON", async () => {
    const broken = call({}, "model").send(serverOf(async () => answer(500, 1n)));
    await expect(broken).rejects.toThrow("BigInt");
  });

  it("does not wait for a server that ignores its signal", async () => {
    const signal = new LazySignal();
    const waiting = call({ signal }).send(never);
    signal.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(call({ signal }).send(never)).rejects.toThrow("given up");
  });

  it("says how long it has waited, and in which stage", async () => {
    const waiting = call({ timeoutMs: 5, timeoutKey: "x_timeout_seconds" }, "model").send(never);
    await expect(waiting).rejects.toMatchObject({
      message: "harbour /v1/responses did not answer within 0.005 s (x_timeout_seconds)",
      info: { class: "timeout", stage: "model", retryable: true },
    });
  });

  it("leaves nothing behind at a signal that outlives it", async () => {
    let listeners = 0;
    const signal = Object.assign(new LazySignal(), {
      addEventListener: () => {
        listeners++;
      },
      removeEventListener: () => {
        listeners--;
      },
    });
    for (const timeoutMs of [null, 60_000]) {
      await call({ signal, timeoutMs }).send(serverOf(async () => answer(200, null)));
      const broken = call({ signal, timeoutMs }).send(serverOf(() => Promise.reject(new Error("x"))));
      await expect(broken).rejects.toThrow("x");
      const worse = call({ signal, timeoutMs }).send({
        serve() {
          throw new Error("at once");
        },
      });
      await expect(worse).rejects.toThrow("at once");
      const silent = call({ signal, timeoutMs }).send(serverOf(async () => undefined as never));
      await expect(silent).rejects.toThrow(TypeError);
    }
    expect(listeners).toBe(0);
  });

  it("tells its handler by the same signal that time is up", async () => {
    let reason: unknown;
    const waiting = call({ timeoutMs: 5 }).send(
      serverOf(
        ({ stop }) =>
          new Promise((resolve) => {
            stop.addEventListener("abort", () => {
              reason = stop.reason;
              resolve(answer(200, "too late"));
            });
          }),
      ),
    );
    await expect(waiting).rejects.toThrow("did not answer within 0.005 s");
    expect(reason).toEqual(new Error("time is up after 5 ms"));
  });
});
