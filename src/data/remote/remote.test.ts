import { describe, expect, it } from "vitest";
import { nextDelay, retryAfterMs } from "../../base/transport/retry.ts";
import { RemoteError, statusError, unreachable } from "./errors.ts";
import { withRetries } from "./retry.ts";

const fast = { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 };

describe("remote errors", () => {
  it("contain status, host and message, and whether a retry may help", () => {
    const error = statusError("hub.example", 401, " Invalid  credentials\n");
    expect(error).toMatchObject({ code: "REMOTE_UNAUTHORIZED", status: 401, retryable: false });
    expect(error.message).toBe("401 from hub.example: Invalid credentials");
    expect(statusError("h", 503, "", "2")).toMatchObject({
      retryable: true,
      retryAfterMs: 2000,
      message: "503 from h",
    });
    expect(statusError("h", 409, "x").retryable).toBe(false);
  });

  it("read Retry-After as seconds or as a date", () => {
    expect(retryAfterMs("3")).toBe(3000);
    expect(retryAfterMs("Thu, 01 Jan 2026 00:00:10 GMT", Date.parse("2026-01-01T00:00:00Z"))).toBe(10_000);
    expect(retryAfterMs("soon")).toBeUndefined();
    expect(retryAfterMs(undefined)).toBeUndefined();
  });

  it("name the root cause of a failed connection", () => {
    const cause = new TypeError("fetch failed", {
      cause: new AggregateError([new Error("connect ECONNREFUSED")]),
    });
    expect(unreachable("h", cause).message).toBe("h cannot be reached: connect ECONNREFUSED");
  });
});

describe("withRetries", () => {
  it("repeats retryable failures within its attempts", async () => {
    let calls = 0;
    const waits: number[] = [];
    const result = await withRetries(
      async () => {
        calls++;
        if (calls < 3) throw statusError("h", 503, "busy", calls === 1 ? "0.005" : undefined);
        return "done";
      },
      { policy: fast, onRetry: (_error, delay) => waits.push(delay) },
    );
    expect(result).toBe("done");
    expect(Math.floor(waits[0] ?? 0)).toBeGreaterThanOrEqual(5);
    expect(waits).toHaveLength(2);
  });

  it("fails after the last attempt, and immediately for permanent failures and very long waits", async () => {
    const failing = (status: number, retryAfter?: string) => {
      let calls = 0;
      const run = withRetries(
        async () => {
          calls++;
          throw statusError("h", status, "no", retryAfter);
        },
        { policy: fast },
      );
      return run.catch((error: unknown) => ({
        calls,
        code: error instanceof RemoteError ? error.code : error,
      }));
    };
    expect(await failing(500)).toEqual({ calls: 3, code: "REMOTE_FAILED" });
    expect(await failing(404)).toEqual({ calls: 1, code: "REMOTE_NOT_FOUND" });
    expect(await failing(429, "86400")).toEqual({ calls: 1, code: "REMOTE_RATE_LIMITED" });
  });

  it("stops when aborted", async () => {
    const abort = new AbortController();
    const run = withRetries(
      async () => {
        throw statusError("h", 503, "busy", "60");
      },
      { policy: fast, signal: abort.signal, onRetry: () => abort.abort() },
    );
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
  });

  it("waits for a random part of a delay that doubles up to a limit", () => {
    const budget = { attempts: 9, wallClockMs: null, baseDelayMs: 100, maxDelayMs: 1000 };
    for (let attempt = 1; attempt < 9; attempt++) {
      const full = Math.min(1000, 100 * 2 ** (attempt - 1));
      expect(nextDelay(budget, { attempt, elapsedMs: 0 }, () => 1)).toBe(full);
    }
    expect(nextDelay(budget, { attempt: 9, elapsedMs: 0 })).toBeUndefined();
  });
});
