import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent, splitMessages } from "./app.ts";

it("converts messages to items, and how the conversation ended", () => {
  const transcript = new Transcript();
  const call = { id: "c1", type: "function", function: { name: "terminal", arguments: '{"command":"ls"}' } };
  const messages = [
    { role: "assistant", content: "I look.", reasoning: "Hm.", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "2 files" },
    { role: "user", content: "Go on." },
    { role: "assistant", content: "Done." },
  ];
  for (const message of messages) readEvent({ type: "message", message }, transcript);
  readEvent({ type: "end", completed: true, interrupted: true, failed: false }, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "message", content: [{ text: "<think>\nHm.\n</think>\n\nI look." }] },
    { type: "function_call", call_id: "c1", name: "terminal", arguments: '{"command":"ls"}' },
    { type: "function_call_output", call_id: "c1", output: "2 files" },
    { type: "message", content: [{ text: "Done." }] },
  ]);
  expect(transcript.incompleteReason).toBe("timeout");
  expect(transcript.errors).toEqual([]);
});

it.each([
  [{ completed: false, failed: false }, "max_turns", []],
  [{ completed: false, failed: true, error: "503" }, "max_turns", ["503"]],
])("reads the end %j", (end, reason, errors) => {
  const transcript = new Transcript();
  readEvent({ type: "end", ...end }, transcript);
  expect(transcript).toMatchObject({ incompleteReason: reason, errors });
});

it("keeps earlier turns", () => {
  const earlier = [
    { role: "user", content: "One?" },
    { role: "assistant", content: "1" },
  ];
  const messages = [{ role: "system", content: "Count." }, ...earlier, { role: "user", content: "Two?" }];
  expect(splitMessages(messages)).toEqual({ prompt: "Two?", history: earlier, system: "Count." });
  expect(splitMessages(messages, "Be short.").system).toBe("Be short.");
});
