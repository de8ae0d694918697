import { describe, expect, it } from "vitest";
import { ConnectionError } from "../../base/transport/errors.ts";
import { AttemptTimeout } from "./provider-error.ts";
import {
  failureOfError,
  failureOfReply,
  hiddenError,
  invalidResponse,
  providerMessage,
  redirect,
  requestedPause,
  resetPause,
} from "./read-failure.ts";

const plain = (text: string) => text;
const reply = (status: number, text: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  text,
});
const openai = (message: string, code?: string) => JSON.stringify({ error: { message, code } });

describe("failureOfReply", () => {
  it.each([
    [401, openai("bad key"), "provider_auth", false],
    [403, openai("no"), "provider_auth", false],
    [402, openai("pay"), "provider_auth", false],
    [429, openai("slow down"), "provider_rate_limit", true],
    [429, openai("You exceeded your current quota", "insufficient_quota"), "provider_auth", false],
    [400, openai("bad"), "provider_error", false],
    [404, "", "provider_error", false],
    [408, "", "timeout", true],
    [500, "", "provider_error", true],
    [501, "", "provider_error", false],
    [504, "", "timeout", true],
    [529, "", "provider_error", true],
  ])("reads %i %s as %s", (status, text, name, retryable) => {
    const { failure } = failureOfReply(reply(status, text), "h", plain);
    expect(failure).toMatchObject({ class: name, retryable, stage: "model" });
  });

  it("follows the endpoint's advice", () => {
    const advised = (status: number, advice: string) =>
      failureOfReply(reply(status, "", { "x-should-retry": advice }), "h", plain).failure.retryable;
    expect(advised(500, "false")).toBe(false);
    expect(advised(400, "true")).toBe(true);
  });
});

describe("providerMessage", () => {
  it.each([
    [openai("said"), "said"],
    ['{"error":"said"}', "said"],
    ['{"object":"error","message":"said","type":"BadRequestError"}', "said"],
    ['{"detail":[{"loc":["a"],"msg":"said"}]}', "a: said"],
    ['{"detail":[{"loc":["body","n",0],"msg":"Field required"}]}', "body.n.0: Field required"],
    ['[{"error":{"code":400,"message":"said"}}]', "said"],
    ['{"type":"error","error":{"type":"overloaded_error","message":"said"}}', "said"],
    [
      '{"error":{"message":"Provider returned error","metadata":{"raw":"{\\"error\\":\\"deep\\"}"}}}',
      "Provider returned error: deep",
    ],
    ["<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"],
    ["  two\n lines ", "two lines"],
    ["", ""],
    ["{}", "{}"],
  ])("finds the message in %s", (text, message) => {
    expect(providerMessage(text)).toBe(message);
  });

  it("accepts hostile bodies", () => {
    for (const text of [
      "<".repeat(1_000_000),
      "[".repeat(500_000),
      `<html>${"<a ".repeat(300_000)}`,
      "{".repeat(9),
    ]) {
      expect(typeof providerMessage(text)).toBe("string");
    }
    expect(providerMessage(`${'{"error":'.repeat(50)}1${"}".repeat(50)}`).length).toBeGreaterThan(0);
  });
});

describe("hiddenError", () => {
  it.each([
    [{ error: { code: 429, message: "m" } }, 429],
    [{ error: { message: "m" } }, 502],
    [{ choices: [{ error: { code: 503, message: "m" } }] }, 503],
    [
      {
        object: "response",
        status: "failed",
        output: [],
        error: { code: "rate_limit_exceeded", message: "m" },
      },
      429,
    ],
    [{ choices: [{ message: {} }], error: { message: "m" } }, undefined],
    [{ object: "response", status: "completed", output: [], error: null }, undefined],
    [{ object: "response", status: "incomplete", output: [], error: { code: "x", message: "m" } }, undefined],
    ["text", undefined],
  ])("reads %j as %s", (body, status) => {
    expect(hiddenError(reply(200, ""), body)?.status).toBe(status);
  });
});

describe("failureOfError", () => {
  it("distinguishes timeouts, refused connections and large answers", () => {
    expect(failureOfError(new AttemptTimeout(2_000), "h", plain).failure).toMatchObject({
      class: "timeout",
      message: "h: no answer within 2 s (request_timeout_seconds)",
    });
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    expect(failureOfError(refused, "h", plain).failure).toMatchObject({
      class: "connection",
      retryable: true,
    });
    const strange = new ConnectionError(
      "RESPONSE_NOT_HTTP",
      "the response is not HTTP: it begins with 'SSH-2.0'",
    );
    expect(failureOfError(strange, "h", plain)).toMatchObject({
      lasting: true,
      failure: {
        class: "invalid_response",
        message: "h answers, but not like a model API: the response is not HTTP: it begins with 'SSH-2.0'",
      },
    });
    const large = new ConnectionError("RESPONSE_TOO_LARGE", "the answer is larger than allowed");
    expect(failureOfError(large, "h", plain).failure).toMatchObject({
      class: "invalid_response",
      retryable: false,
    });
  });

  it.each([
    [
      "ERR_SSL_WRONG_VERSION_NUMBER",
      "803C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x.c:350:\n",
    ],
    ["EPROTO", "write EPROTO 803C:error:0A00010B:SSL routines::wrong version number:x.c:350:\n"],
  ])("reports in one line that there is no TLS (%s), as a permanent failure", (code, text) => {
    const failure = failureOfError(Object.assign(new Error(text), { code }), "h:1", plain);
    expect(failure.message).toBe(
      `no connection to h:1: it does not use TLS [${code}]; for a plain HTTP server, write http:// instead of https://`,
    );
    expect(failure.lasting).toBe(true);
  });

  it("treats an untrusted certificate as permanent", () => {
    const error = Object.assign(new Error("self-signed certificate"), {
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    const failure = failureOfError(error, "h", plain);
    expect(failure.message).toBe(
      "no secure connection to h: self-signed certificate [DEPTH_ZERO_SELF_SIGNED_CERT]",
    );
    expect(failure.lasting).toBe(true);
  });

  it("distinguishes a closed connection from a missing server", () => {
    const closed = new ConnectionError("CONNECTION_CLOSED", "other side closed");
    expect(failureOfError(closed, "h", plain)).toMatchObject({
      message: "h hung up before its answer was complete: other side closed [CONNECTION_CLOSED]",
      lasting: false,
    });
  });
});

describe("text of an endpoint", () => {
  const hostile = "\u001b]0;pwned\u0007\u001b[2J\u0000RED";
  const escaped = "\\x1b]0;pwned\\x07\\x1b[2J\\x00RED";

  it("cannot control a terminal", () => {
    expect(failureOfReply(reply(500, hostile), "h", plain).message).toBe(`500 from h: ${escaped}`);
    expect(invalidResponse(reply(200, hostile), "h", "odd", plain).message).toContain(`it says: ${escaped}`);
  });
});

describe("redirect", () => {
  it("names the target without its query, and is not retried", () => {
    const given = { ...reply(308, ""), headers: { location: "https://h/v2/responses?sig=secret" } };
    const failure = redirect(given, "h/v1/responses", plain);
    expect(failure.message).toBe(
      "308 from h/v1/responses: it redirects to https://h/v2/responses, but redirects are not followed; configure the target address",
    );
    expect(failure.failure.retryable).toBe(false);
    expect(redirect(reply(302, ""), "h", plain).message).toContain(
      "it redirects, but redirects are not followed",
    );
  });
});

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

it("reads durations and rejects other texts", () => {
  expect(resetPause("1h2m3.5s", NOW)).toBe(3_723_500);
  expect(resetPause("1d", NOW)).toBe(86_400_000);
  expect(resetPause("-5", NOW)).toBe(0);
  expect(resetPause("s", NOW)).toBeUndefined();
  expect(resetPause("9".repeat(100_000), NOW)).toBeUndefined();
});
