import { expect, it } from "vitest";
import { AdaptiveLimit } from "./adaptive-limit.ts";
import { CircuitBreaker, ORDINARY_PASS } from "./circuit-breaker.ts";
import type { Endpoint } from "./endpoint.ts";
import { recordFailure, slotResult } from "./failed-attempts.ts";
import { failureOfError } from "./read-failure.ts";

it("treats a lack of open files as a limit, not as an outage", () => {
  const error = Object.assign(new Error("connect EMFILE 127.0.0.1:1"), { code: "EMFILE" });
  const failure = failureOfError(error, "host:1", (text) => text);
  expect(failure.message).toContain("too many files are open here [EMFILE]");
  expect(failure.failure.retryable).toBe(true);

  const breaker = new CircuitBreaker();
  for (let count = 0; count < 50; count++) recordFailure({ breaker } as Endpoint, ORDINARY_PASS, failure);
  expect(breaker.isOpen).toBe(false);

  let now = 0;
  const limit = new AdaptiveLimit(
    100,
    () => 0,
    () => ++now,
  );
  const slots = Array.from({ length: 100 }, () => limit.tryEnter());
  for (const slot of slots.slice(90)) if (slot) limit.leave(slot, slotResult(failure));
  expect(limit.limit).toBe(50);
});
