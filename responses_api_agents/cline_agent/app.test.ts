import { Transcript } from "nemo-gym/agents";
import { expect, it } from "vitest";
import { readEvent } from "./app.ts";

it("converts the events of the program to items, usage and errors", () => {
  const transcript = new Transcript();
  const events = [
    {
      type: "agent_event",
      event: {
        type: "content_start",
        contentType: "tool",
        toolName: "run_commands",
        toolCallId: "c1",
        input: {},
      },
    },
    {
      type: "agent_event",
      event: { type: "content_end", contentType: "tool", toolCallId: "c1", output: "2 files" },
    },
    { type: "agent_event", event: { type: "content_end", contentType: "reasoning", text: "Almost." } },
    { type: "agent_event", event: { type: "content_end", contentType: "text", text: "Done." } },
    { type: "run_result", usage: { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2 } },
    { type: "error", message: "lost" },
  ];
  for (const event of events) readEvent(event, transcript);
  expect(transcript.finish()).toMatchObject([
    { type: "function_call", call_id: "c1", name: "run_commands", status: "completed" },
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
