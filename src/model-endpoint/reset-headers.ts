import { retryAfterMs } from "../calls/retry.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Pairs of headers: what is left of a quota, and when it is reset. */
const QUOTAS: readonly [remaining: string, reset: string][] = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["ratelimit-remaining", "ratelimit-reset"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
  ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
  ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
];

/**
 * The pause an endpoint asks for: `Retry-After` in any of its forms, else the reset of the quotas that are
 * used up. Undefined when there is no such header.
 */
export function requestedPause(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = Number(textOf(headers["retry-after-ms"]) ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const after = retryAfterMs(headers["retry-after"], now);
  if (after !== undefined) return after;
  let longest: number | undefined;
  for (const [remaining, reset] of QUOTAS) {
    const left = textOf(headers[remaining]);
    if (left !== undefined && Number(left) > 0) continue;
    const pause = resetPause(textOf(headers[reset]), now);
    if (pause !== undefined && (longest === undefined || pause > longest)) longest = pause;
  }
  return longest;
}

/** Above this a bare number is a point in time, in seconds or milliseconds, not a duration. */
const SMALLEST_UNIX_SECONDS = 1_000_000_000;
const SMALLEST_UNIX_MILLISECONDS = 1_000_000_000_000;

/** `12`, `6m0s`, `20ms`, a Unix time or a date: until when, in milliseconds from now. */
export function resetPause(text: string | undefined, now: number = Date.now()): number | undefined {
  if (!text) return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) {
    if (number >= SMALLEST_UNIX_MILLISECONDS) return Math.max(0, number - now);
    if (number >= SMALLEST_UNIX_SECONDS) return Math.max(0, number * 1000 - now);
    return Math.max(0, number * 1000);
  }
  const duration = durationMs(text);
  if (duration !== undefined) return duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text) || text.length > 64) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return total;
}

function textOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}
