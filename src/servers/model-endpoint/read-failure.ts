import { parseJson, printable } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { classOfProviderStatus } from "../../base/failures.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { HttpAnswer } from "../../base/transport/door.ts";
import { retryAfterMs } from "../../base/transport/light-door.ts";
import { AttemptTimeout, ProviderError } from "./provider-error.ts";

const MAX_QUOTED = 1_000;
/** OpenSSL's error for a server that does not answer a handshake with TLS. */
const NO_TLS = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);
/** Statuses below 500 for which a retry may help. */
const PASSING = new Set([408, 409, 425, 429]);
/** Error codes sent with 429 for which a retry does not help. */
const OUT_OF_CREDIT =
  /insufficient_quota|billing_hard_limit|credit balance is too low|exceeded your current quota/i;

/** The failure for a response with an error status. `redact` removes keys from the message. */
export function failureOfReply(
  reply: HttpAnswer,
  host: string,
  redact: (text: string) => string,
): ProviderError {
  const { status, headers } = reply;
  const message = printable(redact(providerMessage(reply.text)).slice(0, MAX_QUOTED));
  const outOfCredit = status === 402 || (status === 429 && OUT_OF_CREDIT.test(reply.text));
  return new ProviderError({
    class: outOfCredit ? "provider_auth" : classOfProviderStatus(status),
    providerStatus: status,
    body: redact(reply.text),
    retryable: !outOfCredit && isRetryable(status, headers["x-should-retry"]),
    retryAfterMs: requestedPause(headers),
    message: `${status} from ${host}: ${message || "no message"}`,
  });
}

function isRetryable(status: number, advice: string | string[] | undefined): boolean {
  if (advice === "true") return true;
  if (advice === "false") return false;
  return PASSING.has(status) || (status >= 500 && status !== 501 && status !== 505);
}

/** The failure for a request without a response. */
export function failureOfError(
  error: unknown,
  host: string,
  redact: (text: string) => string,
): ProviderError {
  const code = (error as { code?: unknown } | null)?.code;
  const text = redact(errorMessage(error));
  if (error instanceof AttemptTimeout) return noAnswer("timeout", `${host}: ${text}`, error);
  if (code === "RESPONSE_TOO_LARGE") {
    const message = `the answer from ${host} is larger than allowed (max_response_mb)`;
    return new ProviderError({ class: "invalid_response", retryable: false, message, cause: error });
  }
  if (code === "RESPONSE_NOT_HTTP") {
    const message = `${host} answers, but not like a model API: ${text}`;
    return new ProviderError({
      class: "invalid_response",
      retryable: true,
      lasting: true,
      message,
      cause: error,
    });
  }
  if (code === "REQUEST_INVALID") {
    const message = `no request can be made to ${host}: ${text} (check its headers and key)`;
    return new ProviderError({ class: "provider_error", retryable: false, message, cause: error });
  }
  const named = typeof code === "string" && !text.includes(code) ? `${text || "failed"} [${code}]` : text;
  if (typeof code === "string" && (NO_TLS.has(code) || text.includes("wrong version number"))) {
    const message = `no connection to ${host}: it does not use TLS [${code}]; for a plain HTTP server, write http:// instead of https://`;
    return noAnswer("connection", message, error, true);
  }
  if (typeof code === "string" && /CERT|SSL|TLS|EPROTO|UNABLE_TO_VERIFY/.test(code)) {
    const shown = text.includes("SSL routines") ? code : named;
    return noAnswer("connection", `no secure connection to ${host}: ${shown}`, error, true);
  }
  if (code === "CONNECTION_CLOSED" || code === "ECONNRESET" || code === "EPIPE")
    return noAnswer("connection", `${host} hung up before its answer was complete: ${named}`, error);
  if (code === "EMFILE" || code === "ENFILE") {
    const message = `no connection to ${host}: too many files are open here [${code}]; calls wait for a free place, and more run at once with a higher ulimit -n`;
    return noAnswer("connection", message, error);
  }
  const kind = code === "CONNECTION_TIMEOUT" || code === "ETIMEDOUT" ? "timeout" : "connection";
  const unknownHost = code === "ENOTFOUND";
  const hint = unknownHost ? " (no such host: check the address)" : "";
  return noAnswer(kind, `no connection to ${host}: ${named}${hint}`, error, unknownHost);
}

function noAnswer(
  kind: "timeout" | "connection",
  message: string,
  cause: unknown,
  lasting = false,
): ProviderError {
  return new ProviderError({ class: kind, retryable: true, message, cause, lasting });
}

/** The failure for a success status with an unusable body. */
export function invalidResponse(
  reply: HttpAnswer,
  host: string,
  problem: string,
  redact: (text: string) => string,
  retryable = true,
): ProviderError {
  const quoted = printable(redact(reply.text.slice(0, MAX_QUOTED).replace(/\s+/g, " ").trim()));
  const shown = quoted === "" ? "the body is empty" : `it says: ${quoted}`;
  return new ProviderError({
    class: "invalid_response",
    body: redact(reply.text),
    retryable,
    lasting: true,
    message: `${reply.status} from ${host}, but ${redact(problem)}; ${shown}`,
  });
}

/**
 * The failure for a redirect. It is not followed, because the key must not be sent to another host, and not retried.
 */
export function redirect(
  { status, headers, text }: HttpAnswer,
  address: string,
  redact: (text: string) => string,
): ProviderError {
  const { location } = headers;
  const target = typeof location === "string" ? location.replace(/[?#].*$/s, "").slice(0, MAX_QUOTED) : "";
  const to = target === "" ? "" : ` to ${printable(redact(target))}`;
  return new ProviderError({
    class: "invalid_response",
    providerStatus: undefined,
    body: redact(text),
    retryable: false,
    lasting: true,
    message: `${status} from ${address}: it redirects${to}, but redirects are not followed; configure the target address`,
  });
}

/**
 * Some endpoints answer 200 and put the error into the body: instead of an answer, into the choice, or as a failed
 * response. Returns the reply with the status it should have had; undefined when the body is an answer.
 */
export function hiddenError(reply: HttpAnswer, body: unknown): HttpAnswer | undefined {
  if (!isObject(body)) return undefined;
  const error = errorIn(body);
  return error && { ...reply, status: statusOf(error), text: JSON.stringify({ error }) };
}

function errorIn(body: JsonObject): JsonObject | undefined {
  const { choices, error } = body;
  if (Array.isArray(choices)) {
    const first: unknown = choices[0];
    return isObject(first) && isObject(first["error"]) ? first["error"] : undefined;
  }
  if (!isObject(error)) return undefined;
  return Array.isArray(body["output"]) && body["status"] !== "failed" ? undefined : error;
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  server_error: 500,
  invalid_prompt: 400,
};

function statusOf({ code }: JsonObject): number {
  const number = Number(code);
  if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  return (typeof code === "string" && Object.hasOwn(STATUS_BY_CODE, code) && STATUS_BY_CODE[code]) || 502;
}

/** The message in an error body, for all providers. */
export function providerMessage(text: string): string {
  return messageIn(parseJson(text), 0) ?? plainText(text);
}

const DEEPEST = 4;

function messageIn(body: unknown, depth: number): string | undefined {
  if (typeof body === "string" && body !== "") return body;
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(body)) return body.length > 0 ? messageIn(body[0], depth + 1) : undefined;
  if (!isObject(body)) return undefined;
  const field = fieldProblem(body);
  if (field !== undefined) return field;
  for (const key of ["error", "message", "detail", "msg", "errors", "title", "error_description"]) {
    const found = messageIn(body[key], depth + 1);
    if (found !== undefined) return withDetail(found, body["metadata"]);
  }
  return undefined;
}

/** One entry of FastAPI's validation errors, with the name of the field. */
function fieldProblem({ loc, msg }: JsonObject): string | undefined {
  if (!Array.isArray(loc) || loc.length === 0 || typeof msg !== "string") return undefined;
  return `${loc.map(String).join(".")}: ${msg}`;
}

/** Routers answer "provider returned error" and put the cause into the metadata. */
function withDetail(message: string, metadata: unknown): string {
  if (!isObject(metadata) || typeof metadata["raw"] !== "string") return message;
  const raw = providerMessage(metadata["raw"].slice(0, MAX_QUOTED));
  return raw === "" || message.includes(raw) ? message : `${message}: ${raw}`;
}

const MAX_SCANNED = 20_000;

/** The title of an HTML error page. */
function plainText(text: string): string {
  const start = text.slice(0, MAX_SCANNED);
  const title = /<title>([^<]*)<\/title>/i.exec(start)?.[1];
  const content = title ?? (start.includes("<html") ? start.replace(/<[^<>]*>/g, " ") : start);
  return content.replace(/\s+/g, " ").trim();
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Pairs of headers: the remaining quota, and when it is reset. */
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
