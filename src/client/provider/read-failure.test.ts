import { describe, expect, it } from "vitest";
import { failureOfError, failureOfReply, hiddenError, providerMessage } from "./read-failure.ts";
import { AnswerTooLarge, AttemptTimeout } from "./transport.ts";

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
    ['{"detail":[{"loc":["a"],"msg":"said"}]}', "said"],
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
  ])("finds the sentence in %s", (text, message) => {
    expect(providerMessage(text)).toBe(message);
  });

  it("does not mind hostile bodies", () => {
    const started = Date.now();
    for (const text of [
      "<".repeat(1_000_000),
      "[".repeat(500_000),
      `<html>${"<a ".repeat(300_000)}`,
      "{".repeat(9),
    ]) {
      expect(typeof providerMessage(text)).toBe("string");
    }
    expect(providerMessage(`${'{"error":'.repeat(50)}1${"}".repeat(50)}`).length).toBeGreaterThan(0);
    expect(Date.now() - started).toBeLessThan(30_000);
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
  it("tells time-outs, refused connections and large answers apart", () => {
    expect(failureOfError(new AttemptTimeout(2_000), "h", plain).failure).toMatchObject({
      class: "timeout",
      message: "h: no answer within 2 s",
    });
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    expect(failureOfError(refused, "h", plain).failure).toMatchObject({
      class: "connection",
      retryable: true,
    });
    const large = new AnswerTooLarge();
    expect(failureOfError(large, "h", plain).failure).toMatchObject({
      class: "invalid_response",
      retryable: false,
    });
  });
});
