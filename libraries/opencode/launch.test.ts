import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./launch.ts";

it("converts the events of the program to items, usage and errors", () => {
  const transcript = new Transcript();
  const events = [
    {
      part: {
        type: "tool",
        callID: "c1",
        tool: "bash",
        state: { status: "completed", input: {}, output: "2 files" },
      },
    },
    { part: { type: "reasoning", text: "Almost." } },
    { part: { type: "text", text: "Done." } },
    { part: { type: "step-finish", tokens: { input: 5, output: 3, cache: { read: 2 } } } },
    { type: "error", error: "lost" },
  ];
  for (const event of events) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "function_call", call_id: "c1", name: "bash", status: "completed" },
    { type: "function_call_output", call_id: "c1", output: "2 files" },
    { type: "message", content: [{ text: "<think>\nAlmost.\n</think>\n\nDone." }] },
  ]);
  expect(transcript.usage).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  expect(transcript.errors).toEqual(['"lost"']);
});

it("ignores unknown events", () => {
  const transcript = new Transcript();
  for (const event of [{}, { type: "unknown" }, { type: "assistant" }, { type: "item.completed" }])
    readEvent(event, transcript);
  expect(transcript.finish()).toEqual([]);
});
