import { expect, it } from "vitest";
import { Transcript } from "./transcript.ts";

const shortly = (transcript: Transcript) =>
  transcript.finish().map((item) => {
    if (item.type === "function_call") return `${item.name}(${item.arguments}) ${item.status}`;
    if (item.type === "function_call_output") return `-> ${item.output as string}`;
    return item.type === "message" ? JSON.stringify(item.content) : item.type;
  });

it("pairs calls with their outputs and drops calls without an output", () => {
  const transcript = new Transcript();
  transcript.callStarted("a", "look", { at: 1 });
  transcript.callStarted("b", "lost", {});
  transcript.callFinished("a", "seen");
  transcript.callFinished("unknown", "?");
  expect(shortly(transcript)).toEqual(['look({"at":1}) completed', "-> seen"]);
});

it("marks failed calls", () => {
  const transcript = new Transcript();
  transcript.call("a", "look", "{}", "no such file", true);
  expect(shortly(transcript)[0]).toBe("look({}) incomplete");
});

it("writes reasoning before the next message and keeps reasoning after the last one", () => {
  const transcript = new Transcript();
  transcript.reasoning("first");
  transcript.message("answer");
  transcript.reasoning("afterthought");
  const texts = transcript.finish().map((item) => JSON.stringify(item));
  expect(texts[0]).toContain("<think>\\nfirst\\n</think>\\n\\nanswer");
  expect(texts[1]).toContain("<think>\\nafterthought\\n</think>");
  expect(texts).toHaveLength(2);
});

it("sums usage and keeps unknown details null", () => {
  const transcript = new Transcript();
  transcript.addUsage({ inputTokens: 10, outputTokens: 2 });
  transcript.addUsage({ inputTokens: 5, outputTokens: 1, cachedTokens: 4 });
  expect(transcript.usage).toEqual({
    input_tokens: 15,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: null },
    total_tokens: 18,
  });
});
