import { describe, expect, it } from "vitest";
import { materializeCreateParams, materializeResponse } from "./materialize.ts";
import { parseCreateParams, parseResponse } from "./responses.ts";
import { trust } from "./trusted.ts";

const response = {
  id: "r",
  created_at: 1,
  model: "m",
  object: "response",
  output: [],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
};

describe("a body that was parsed in this process", () => {
  it("is not parsed or filled in again", () => {
    const params = parseCreateParams({ input: "hi" });
    expect(parseCreateParams(params)).toBe(params);
    const whole = materializeCreateParams(params);
    expect(parseCreateParams(whole)).toBe(whole);
    expect(materializeCreateParams(whole)).toBe(whole);
    const answer = materializeResponse(parseResponse(response));
    expect(parseResponse(answer)).toBe(answer);
    expect(materializeResponse(answer)).toBe(answer);
  });

  it("is parsed when it was sent over a wire", () => {
    const sent = trust({ input: 1 });
    expect(() => parseCreateParams(JSON.parse(JSON.stringify(sent)))).toThrow();
    const loose = trust({ ...response, tool_choice: 1 });
    expect(parseResponse(loose)).toBe(loose);
  });

  it("is parsed again after it was copied", () => {
    const params = parseCreateParams({ input: "hi" });
    expect(() => parseCreateParams({ ...params, input: 1 })).toThrow();
  });
});
