import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./app.ts";

it("converts the events of the program to items, usage and errors", () => {
  const transcript = new Transcript();
  const events = [
    {
      type: "item.completed",
      item: {
        id: "c1",
        type: "command_execution",
        command: "ls",
        aggregated_output: "2 files",
        exit_code: 0,
      },
    },
    { type: "item.completed", item: { id: "r1", type: "reasoning", text: "Almost." } },
    { type: "item.completed", item: { id: "m1", type: "agent_message", text: "Done." } },
    { type: "turn.completed", usage: { input_tokens: 7, output_tokens: 3, cached_input_tokens: 2 } },
    { type: "turn.failed", error: { message: "lost" } },
  ];
  for (const event of events) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "function_call", call_id: "c1", name: "exec_command", status: "completed" },
    { type: "function_call_output", call_id: "c1", output: "2 files" },
    { type: "message", content: [{ text: "<think>\nAlmost.\n</think>\n\nDone." }] },
  ]);
  expect(transcript.usage).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  expect(transcript.errors).toEqual(['{"message":"lost"}']);
});

it("ignores unknown events", () => {
  const transcript = new Transcript();
  for (const event of [{}, { type: "unknown" }, { type: "assistant" }, { type: "item.completed" }])
    readEvent(event, transcript);
  expect(transcript.finish()).toEqual([]);
});
