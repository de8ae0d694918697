import { describe, expect, it } from "vitest";
import { allAssistantText, lastPartOfLastMessage, lastTextMessage, lastUserText } from "./response-text.ts";

const message = (...texts: string[]) => ({
  type: "message",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text })),
});
const refusal = { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "no" }] };
const reasoning = { type: "reasoning", summary: [] };

describe("reading a response", () => {
  it("joins all messages", () => {
    expect(allAssistantText({ output: [message(" a", "b"), reasoning, message("c ")] })).toBe("a\nb\nc");
  });

  it("finds the last message with text", () => {
    expect(lastTextMessage({ output: [message("a", "b"), refusal, reasoning] })).toBe("a\nb");
    expect(lastTextMessage({ output: [message("a"), message("")] })).toBe("");
    expect(lastTextMessage({ output: [null, "x", 3] })).toBe("");
  });

  it("reads the last part of the last message", () => {
    expect(lastPartOfLastMessage({ output: [message("a", "b")] })).toBe("b");
    expect(lastPartOfLastMessage({ output: [message("a"), reasoning] })).toBeNull();
    expect(lastPartOfLastMessage({ output: [refusal] })).toBeNull();
    expect(lastPartOfLastMessage({ output: [] })).toBeNull();
  });

  it("reads the last user message of an input", () => {
    const parts = [
      { type: "input_text", text: "p" },
      { type: "input_text", text: "q" },
    ];
    expect(
      lastUserText([{ role: "user", content: "a" }, { role: "user", content: parts }, { role: "assistant" }]),
    ).toBe("p\nq");
    const image = { role: "user", content: [{ type: "input_image", image_url: "data:," }] };
    expect(lastUserText([{ role: "user", content: "a" }, image])).toBe("a");
    expect(
      lastUserText([
        { role: "user", content: "a" },
        { role: "user", content: "" },
      ]),
    ).toBe("");
    expect(lastUserText(" plain ")).toBe("plain");
    expect(lastUserText([])).toBe("");
  });
});
