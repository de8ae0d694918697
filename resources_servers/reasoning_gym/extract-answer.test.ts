import { describe, expect, it } from "vitest";
import { extractAnswer } from "./extract-answer.ts";

describe("extractAnswer", () => {
  it.each([
    ["<answer> 42 </answer>", "42"],
    ["<answer>41</answer> then <answer>42</answer>", "42"],
    ["<answer>a\nb</answer>", "a\nb"],
    ["<answer>41</answer> \\boxed{42}", "41"],
    ["<answer></answer> \\boxed{42}", ""],
    ["<answer>x <answer>y</answer>", "x <answer>y"],
    ["<answer>never closed \\boxed{7}", "7"],
    ["\\boxed{41} \\boxed{42}", "41"],
    ["\\boxed{} \\boxed{ 42 }", "42"],
    ["\\boxed{\\frac{1}{2}}", "\\frac{1"],
    ["<ANSWER>1</ANSWER>", "<ANSWER>1</ANSWER>"],
    ["  the answer is 42\n", "the answer is 42"],
    ["", ""],
  ])("extracts %j from %j", (text, answer) => {
    expect(extractAnswer(text)).toBe(answer);
  });

  it("takes linear time", () => {
    for (const text of [
      "<answer>".repeat(300_000),
      "\\boxed{".repeat(300_000),
      "\\boxed{}".repeat(300_000),
      `${" ".repeat(2_000_000)}x`,
    ]) {
      extractAnswer(text);
    }
  });
});
