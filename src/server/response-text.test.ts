import { describe, expect, it } from "vitest";
import {
  allAssistantText,
  finalAssistantText,
  firstPartOfLastItem,
  lastAssistantText,
  lastPartOfLastMessage,
  lastUserText,
  outputText,
} from "./response-text.ts";

const message = (...texts: string[]) => ({
  type: "message",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text })),
});
const refusal = { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "no" }] };
const reasoning = { type: "reasoning", summary: [] };

describe("reading a response", () => {
  it("concatenates or joins", () => {
    const output = [message(" a", "b"), reasoning, message("c ")];
    expect(outputText({ output })).toBe(" abc ");
    expect(allAssistantText({ output })).toBe("a\nb\nc");
  });

  it("finds the last message with text, or the last message", () => {
    const output = [message("a", "b"), refusal, reasoning];
    expect(lastAssistantText({ output })).toBe("a\nb");
    expect(finalAssistantText({ output })).toBe("");
    expect(lastAssistantText({ output: [message("a"), message("")] })).toBe("");
    expect(finalAssistantText({ output: [] })).toBe("");
  });

  it("reads parts of the last item", () => {
    expect(firstPartOfLastItem({ output: [message("a", "b")] })).toBe("a");
    expect(firstPartOfLastItem({ output: [message("a"), reasoning] })).toBe("");
    expect(firstPartOfLastItem({ output: [refusal] })).toBeNull();
    expect(firstPartOfLastItem({ output: [] })).toBe("");
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
    expect(lastUserText(" plain ")).toBe("plain");
    expect(lastUserText([])).toBe("");
  });
});
