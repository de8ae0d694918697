import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { expectedItems, finalAnswerItems, setF1 } from "./answer-list.ts";

describe("finalAnswerItems", () => {
  it.each<[string, string[] | undefined]>([
    ["Final Answer: [a, b]", ["a", "b"]],
    ["I see.\nFinal Answer:[a]\n \n", ["a"]],
    ["so the Final Answer: [a], I think [b] is wrong", ["a]", "I think [b"]],
    ["Final Answer: []", []],
    ["Final Answer: [a,, ]", ["a"]],
    ['Final Answer: ["a"]', ['"a"']],
    ["Final Answer: [a]\nThat is all.", undefined],
    ["final answer: [a]", undefined],
    ["] Final Answer: [a", undefined],
    ["Final Answer: none, see Final Answer: [a]", ["a"]],
    ["", undefined],
  ])("%j", (text, items) => {
    expect(finalAnswerItems(text)).toEqual(items);
  });

  it("takes linear time", async () => {
    const find = (size: number) => expect(finalAnswerItems("Final Answer: [".repeat(size))).toBeUndefined();
    expect(await growthOf(find, 10_000)).toBeLessThan(1.6);
  });
});

describe("expectedItems", () => {
  it.each<[string, unknown[]]>([
    ['["a", "b", "a"]', ["a", "b"]],
    ["[1, 1.0, true, null]", [1, null]],
    ['{"k": 1}', ["k"]],
    ['"aba"', ["a", "b"]],
    ["[[1]]", []],
    ["7", []],
    ["not JSON", []],
  ])("%s", (text, items) => {
    expect([...expectedItems(text)]).toEqual(items);
  });
});

describe("setF1", () => {
  it.each<[string, string, number]>([
    ["", "", 1],
    ["a", "", 0],
    ["", "a", 0],
    ["a", "b", 0],
    ["ab", "abc", 0.8],
    ["abc", "abc", 1],
  ])("%j and %j", (found, expected, f1) => {
    expect(setF1(new Set(found), new Set(expected))).toBeCloseTo(f1, 15);
  });
});
