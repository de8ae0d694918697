import { describe, expect, it } from "vitest";
import { jsonProblem, parseReplyJson } from "./read-reply.ts";

function problemOf(text: string): string {
  try {
    return `read as ${JSON.stringify(parseReplyJson(text))}`;
  } catch (error) {
    return jsonProblem(error);
  }
}

describe("parseAnswer", () => {
  it("reads JSON of Python servers", () => {
    expect(parseReplyJson('{"logprob": -Infinity, "other": [NaN, Infinity]}')).toEqual({
      logprob: Number.NEGATIVE_INFINITY,
      other: [Number.NaN, Number.POSITIVE_INFINITY],
    });
    expect(parseReplyJson('\uFEFF{"a": 1}')).toEqual({ a: 1 });
    const big = '{"a": NaN, "b": 12345678901234567890, "c": 1.0}';
    expect(JSON.stringify(parseReplyJson(big))).toBe('{"a":null,"b":12345678901234567000,"c":1}');
  });

  it("reports the position of invalid JSON", () => {
    expect(problemOf('{"a": 1,}')).toMatch(/^the body is not JSON \(.+\)$/);
    expect(problemOf('{"id":')).toMatch(/^the body is not JSON \(.+\)$/);
    expect(problemOf("<html>")).toBe("the body is not JSON");
    expect(problemOf("")).toBe("the body is not JSON");
  });

  it("survives deep nesting", () => {
    expect(problemOf(`[NaN, ${"[".repeat(1_000_000)}`)).toContain("not JSON");
  });
});
