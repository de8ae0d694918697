import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./app.ts";

it("converts the events of the program to items, usage and errors", () => {
  const transcript = new Transcript();
  const events = [
    { type: "assistant", message: { content: [{ type: "tool_use", id: "c1", name: "Bash", input: {} }] } },
    {
      type: "user",
      message: {
        content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "2 files" }] }],
      },
    },
    {
      type: "assistant",
      message: {
        content: [
          { type: "thinking", thinking: "Almost." },
          { type: "text", text: "Done." },
        ],
      },
    },
    {
      type: "result",
      subtype: "error_during_execution",
      is_error: true,
      result: "lost",
      usage: { input_tokens: 5, output_tokens: 3, cache_read_input_tokens: 2 },
    },
  ];
  for (const event of events) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "function_call", call_id: "c1", name: "Bash", status: "completed" },
    { type: "function_call_output", call_id: "c1", output: "2 files" },
    { type: "message", content: [{ text: "<think>\nAlmost.\n</think>\n\nDone." }] },
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
