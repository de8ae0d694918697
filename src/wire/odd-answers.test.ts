import { describe, expect, it } from "vitest";
import { assistantMessageToItems, convertChatCompletion } from "./convert/convert-chat-to-responses.ts";
import { mergeReasoning } from "./convert/merge-reasoning.ts";
import { parseCreateParams } from "./schemas/responses.ts";
import { parseChatCompletion } from "./schemas/validate-completion.ts";

const message = { role: "assistant", content: "a" };
const completion = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, finish_reason: "stop", message }],
};
const withMessage = (fields: object) => ({
  ...completion,
  choices: [{ index: 0, finish_reason: "stop", message: { ...message, ...fields } }],
});
const request = parseCreateParams({ input: "q", model: "m" });
const convert = (answer: unknown, options = {}) =>
  convertChatCompletion(parseChatCompletion(answer), request, options);

function losses() {
  const fields: string[] = [];
  return { fields, onLoss: ({ field }: { field: string }) => fields.push(field) };
}

describe("parseChatCompletion of odd answers", () => {
  const f = { name: "f", arguments: "{}" };
  const calls = (...toolCalls: object[]) =>
    parseChatCompletion(withMessage({ tool_calls: toolCalls })).choices[0]?.message.tool_calls ?? [];

  it("reads the choice with index 0 at any position", () => {
    const first = { index: 0, message: { content: "first" } };
    const second = { index: 1, message: { content: "second" } };
    expect(convert({ ...completion, choices: [second, first] }).output).toMatchObject([
      { content: [{ text: "first" }] },
    ]);
    const bare = [{ message: { content: "a" } }, { message: { content: "b" } }];
    expect(parseChatCompletion({ ...completion, choices: bare }).choices).toEqual(bare);
  });

  it("creates new ids for duplicate ones, and reads numeric ids", () => {
    const ids = ["call_0", "call_0", 7, undefined, null];
    const read = calls(...ids.map((id) => ({ id, function: f })));
    expect(read.map(({ id }) => id)).toEqual(["call_0", expect.stringMatching(/^call_\w{32}$/), "7", "", ""]);
    const items = convert(withMessage({ content: null, tool_calls: read })).output;
    expect(new Set(items.map((item) => (item as { call_id?: string }).call_id)).size).toBe(5);
  });

  it("accepts calls without arguments, and rejects calls without a name", () => {
    expect(calls({ id: "x", function: { name: "f" } })).toEqual([{ id: "x", type: "function", function: f }]);
    expect(() => calls({ id: "x", function: {} })).toThrow("choices.0.message.tool_calls.0.function.name");
    expect(() => calls({ id: {}, function: f })).toThrow("tool_calls.0.id");
  });

  it("converts the old function_call to a call, and keeps it for clients", () => {
    const answer = withMessage({ content: null, function_call: { name: "f", arguments: { a: 1 } } });
    const id = expect.stringMatching(/^call_/);
    expect(convert(answer).output).toEqual([
      { type: "function_call", name: "f", arguments: '{"a": 1}', status: "completed", id, call_id: id },
    ]);
    const read = parseChatCompletion(answer).choices[0]?.message;
    expect(read?.function_call).toEqual({ name: "f", arguments: '{"a": 1}' });
  });

  it("converts a refusal to a refusal part", () => {
    const rejected = withMessage({ content: null, refusal: "I cannot." });
    const part = { type: "refusal", refusal: "I cannot." };
    expect(convert(rejected).output).toEqual([
      { id: expect.any(String), type: "message", role: "assistant", status: "completed", content: [part] },
    ]);
    expect(convert(withMessage({ refusal: "I cannot." })).output).toMatchObject([
      { content: [{ text: "a" }, part] },
    ]);
  });

  it("reads counts that are text, and reports an incomplete usage", () => {
    const usage = { prompt_tokens: "10", completion_tokens: "5", total_tokens: "15" };
    const { fields, onLoss } = losses();
    const read = (given: object) => convert({ ...completion, usage: given }, { onLoss }).usage;
    expect(read(usage)).toMatchObject({ input_tokens: 10, output_tokens: 5, total_tokens: 15 });
    expect(read({ ...usage, prompt_tokens: "many" })).toMatchObject({ input_tokens: 10 });
    expect(fields).toEqual([]);
    expect(read({ prompt_tokens: 10 })).toBeNull();
    expect(fields).toEqual(["usage"]);
  });
});

describe("mergeReasoning of odd answers", () => {
  const merged = (fields: object) =>
    mergeReasoning(parseChatCompletion(withMessage(fields)), {}).choices[0]?.message;

  it("finds the text in parts and lists of parts", () => {
    expect(merged({ reasoning: { text: "x" } })?.content).toBe("<think>x</think>a");
    expect(merged({ reasoning: [{ type: "text", text: "x" }, "y"] })?.content).toBe("<think>xy</think>a");
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    expect(merged({ content: [thinking, { type: "text", text: "b" }] })?.content).toBe("<think>hm</think>b");
  });

  it("keeps reasoning without text, which the converter reports", () => {
    const odd = merged({ reasoning: { effort: 1 } });
    expect(odd).toMatchObject({ content: "a", reasoning: { effort: 1 } });
    const reasons: string[] = [];
    assistantMessageToItems(odd as never, { onLoss: ({ reason }) => reasons.push(reason) });
    expect(reasons).toEqual(["it holds no text"]);
    let deep: unknown = "x";
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(merged({ reasoning: deep })?.content).toBe("a");
  });
});
