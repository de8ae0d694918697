import { expect, it } from "vitest";
import { promptOf } from "./define-cli-agent.ts";

it("uses the last user message as the prompt and a leading system message as system text", () => {
  const input = [
    { role: "system" as const, content: "Be brief." },
    { role: "user" as const, content: "first" },
    { role: "user" as const, content: [{ type: "input_text" as const, text: "second" }] },
  ];
  expect(promptOf({ input }, "Configured.")).toEqual({
    prompt: "second",
    system: "Configured.\n\nBe brief.",
  });
});

it("uses a text as the prompt", () => {
  expect(promptOf({ input: "hello" })).toEqual({ prompt: "hello", system: undefined });
});
