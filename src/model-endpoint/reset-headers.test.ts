import { expect, it } from "vitest";
import { requestedPause, resetPause } from "./reset-headers.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

it.each([
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" }, 5_000],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360_000],
  [{ "x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "6m0s" }, undefined],
  [
    {
      "x-ratelimit-remaining-requests": "3",
      "x-ratelimit-reset-requests": "1m",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "20ms",
    },
    20,
  ],
  [{ "x-ratelimit-reset": "1767225610" }, 10_000],
  [{ "x-ratelimit-reset": "1767225610000" }, 10_000],
  [
    {
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:30Z",
    },
    30_000,
  ],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("reads %j as %s ms", (headers, expected) => {
  expect(requestedPause(headers as Record<string, string>, NOW)).toBe(expected);
});

it("reads durations and refuses what is none", () => {
  expect(resetPause("1h2m3.5s", NOW)).toBe(3_723_500);
  expect(resetPause("1d", NOW)).toBe(86_400_000);
  expect(resetPause("-5", NOW)).toBe(0);
  expect(resetPause("s", NOW)).toBeUndefined();
  expect(resetPause("9".repeat(100_000), NOW)).toBeUndefined();
});
