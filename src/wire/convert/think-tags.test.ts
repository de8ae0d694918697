import { describe, expect, it } from "vitest";
import { growthOf } from "../../testing/growth.ts";
import { parseThinkTags, wrapInThinkTags } from "./think-tags.ts";

describe("parseThinkTags", () => {
  it.each([
    ["<think>a</think>b", ["a"], "b"],
    ["x<think>\na\n</think>\n\ny<think></think>z", ["\na\n", ""], "x\n\nyz"],
    ["<think>a<think>b</think>c</think>d", ["a<think>b"], "c</think>d"],
    ["<think>open", [], "<think>open"],
    ["a</think>b", [], "a</think>b"],
    ["<THINK>a</THINK>", [], "<THINK>a</THINK>"],
    ["<think>a</think>b<think>open", ["a"], "b<think>open"],
    ["", [], ""],
  ])("reads %j", (text, reasoning, content) => {
    expect(parseThinkTags(text)).toEqual({ reasoning, content });
  });

  it("takes linear time for many unclosed tags", async () => {
    const parse = (size: number) => {
      const text = "<think>".repeat(size);
      expect(parseThinkTags(text).content).toBe(text);
    };
    expect(await growthOf(parse, 5_000)).toBeLessThan(1.6);
  });
});

it("wraps each text that is not empty", () => {
  expect(wrapInThinkTags(["a", "", "b"])).toBe("<think>a</think><think>b</think>");
});
