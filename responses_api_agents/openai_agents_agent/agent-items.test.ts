import { expect, it } from "vitest";
import { agentItems } from "./agent-items.ts";

it("converts items of the Responses API to items of the Agents SDK, and names the tool of each result", () => {
  const items = agentItems([
    { role: "developer", content: "Be brief." },
    { role: "user", content: "Weather?" },
    { type: "function_call", call_id: "c1", name: "get_weather", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "cold" },
  ]);
  expect(items).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Weather?" },
    { type: "function_call", callId: "c1", name: "get_weather" },
    { type: "function_call_result", callId: "c1", name: "get_weather", output: "cold" },
  ]);
});
