import { parseResponse } from "nemo-gym/openai";
import { growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { boxedOption } from "./boxed-option.ts";

const read = (...output: unknown[]) => boxedOption(parseResponse(verifyBody({}, ...output)["response"]));

describe("boxedOption", () => {
  it.each([
    ["The answer is \\boxed{C}.", "C"],
    ["\\boxed{A} or \\boxed{B}", "A"],
    ["\\boxed{}", ""],
    ["\\\\boxed{C}", "C"],
    ["\\boxed{\\text{C}}", "\\\\text{C"],
    ["\\boxed{\nC}", "\\nC"],
    ["\\boxed{it's}", "it's"],
    ["'\"\\boxed{it's}\"'", "it\\'s"],
    ["\\boxed{日本😀}", "日本😀"],
    ["\\boxed{C\u200b}", "C\\u200b"],
    ["boxed{C}", null],
    ["\\boxed{C", null],
    ["", null],
  ])("reads %j as %j", (text, option) => {
    expect(read(messageItem(text))).toBe(option);
  });

  it("reads only the last item, and only if it is a message", () => {
    expect(read(messageItem("\\boxed{A}"), messageItem("\\boxed{B}"))).toBe("B");
    expect(
      read(messageItem("\\boxed{A}"), { type: "function_call_output", call_id: "c", output: "x" }),
    ).toBeNull();
    expect(read()).toBeNull();
    expect(read(messageItem())).toBeNull();
  });

  it("searches across parts and in refusals, like the printed item of the original", () => {
    expect(read(messageItem("\\boxed{", "C}"))).toBe(
      "', type='output_text', logprobs=None), NeMoGymResponseOutputText(annotations=[], text='C",
    );
    const refusal = { ...messageItem(), content: [{ type: "refusal", refusal: "\\boxed{C}" }] };
    expect(read(refusal)).toBe("C");
  });

  it.each([
    ["boxes", (size: number) => "\\boxed{".repeat(size), null],
    ["quotes", (size: number) => `${"'\"\\\n".repeat(size)}\\boxed{C}`, "C"],
  ])("takes linear time for %s", async (_name, text, option) => {
    const growth = await growthOf((size) => expect(read(messageItem(text(size)))).toBe(option), 5_000);
    expect(growth).toBeLessThan(1.6);
  });
});
