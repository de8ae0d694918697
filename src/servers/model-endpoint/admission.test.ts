import { expect, it } from "vitest";
import { AdaptiveLimit } from "./adaptive-limit.ts";
import { admit } from "./admission.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { failureOfError } from "./read-failure.ts";

it("treats a lack of open files as a limit, not as an outage", async () => {
  const error = Object.assign(new Error("connect EMFILE 127.0.0.1:1"), { code: "EMFILE" });
  const failure = failureOfError(error, "host:1", (text) => text);
  expect(failure.message).toContain("too many files are open here [EMFILE]");
  expect(failure.failure.retryable).toBe(true);

  let now = 0;
  const breaker = new CircuitBreaker();
  const limit = new AdaptiveLimit(
    100,
    () => 0,
    () => ++now,
  );
  const { signal } = new AbortController();
  const enter = (isLimited: boolean) =>
    admit({ breaker, limit }, { isLimited, signal, giveUpAt: 0, longestOutageMs: 0, last: undefined });

  for (let count = 0; count < 50; count++) (await enter(false)).failed(failure);
  expect(breaker.isOpen).toBe(false);
  expect(limit.limit).toBe(100);

  const calls = await Promise.all(Array.from({ length: 100 }, () => enter(true)));
  for (const call of calls.slice(90)) call.failed(failure);
  expect(limit.limit).toBe(50);
});
