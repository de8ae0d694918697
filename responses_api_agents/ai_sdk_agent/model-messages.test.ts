import { expect, it } from "vitest";
import { modelMessages } from "./model-messages.ts";

it("converts chat messages to messages of the AI SDK, and names the tool of each result", () => {
  const messages = modelMessages([
    { role: "developer", content: "Be brief." },
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "cold" },
  ]);
  expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
  expect(JSON.stringify(messages[2])).toContain('"toolName":"get_weather"');
  expect(JSON.stringify(messages[3])).toContain('"toolName":"get_weather"');
});
