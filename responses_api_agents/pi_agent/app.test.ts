import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./app.ts";

it("converts the events of the program to items, usage and errors", () => {
  const transcript = new Transcript();
  const events = [
    {
      type: "message_end",
      message: { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "bash", arguments: {} }] },
    },
    {
      type: "message_end",
      message: { role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "2 files" }] },
    },
    {
      type: "message_end",
      message: {
        role: "assistant",
        content: "Done.",
        usage: { input: 5, output: 3, cacheRead: 2 },
        errorMessage: "lost",
      },
    },
  ];
  for (const event of events) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "function_call", call_id: "c1", name: "bash", status: "completed" },
    { type: "function_call_output", call_id: "c1", output: "2 files" },
    { type: "message", content: [{ text: "Done." }] },
  ]);
  expect(transcript.usage).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  expect(transcript.errors).toEqual(["lost"]);
});

it("ignores unknown events", () => {
  const transcript = new Transcript();
  for (const event of [{}, { type: "unknown" }, { type: "assistant" }, { type: "item.completed" }])
    readEvent(event, transcript);
  expect(transcript.finish()).toEqual([]);
});
