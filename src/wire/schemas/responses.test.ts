import { describe, expect, it } from "vitest";
import { parseCreateParams, parseResponse } from "./responses.ts";
import { ValidationError } from "./validation.ts";

function refusals(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ValidationError)
      return error.detail.map(({ type, loc }) => `${type} ${loc.join(".")}`);
    throw error;
  }
  return [];
}

const answer = (output: unknown[], more: object = {}) => ({
  id: "resp_1",
  created_at: 1700000000,
  model: "m",
  object: "response",
  output,
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  ...more,
});

describe("parseCreateParams", () => {
  it("distinguishes absent keys from null and fills in nothing", () => {
    expect(parseCreateParams({ input: "x", temperature: null })).toEqual({ input: "x", temperature: null });
  });

  it("reports every refusal with its location", () => {
    const body = { made_up: 1, temperature: "warm", tools: null, parallel_tool_calls: null, stream: true };
    expect(refusals(() => parseCreateParams(body, ["body"]))).toEqual([
      "missing body.input",
      "bool_type body.parallel_tool_calls",
      "float_parsing body.temperature",
      "list_type body.tools",
      "literal_error body.stream",
      "extra_forbidden body.made_up",
    ]);
  });

  it("reports a `stream` that is not a boolean", () => {
    const stream = (value: unknown) => () => parseCreateParams({ input: "x", stream: value });
    expect(stream("yes")).toThrow("Input should be a valid boolean");
    expect(stream(true)).toThrow("Input should be false");
    expect(stream(false)()).toEqual({ input: "x", stream: false });
  });

  it("coerces scalars like the Python servers", () => {
    expect(
      parseCreateParams({ input: "x", max_output_tokens: "12", temperature: true, store: "yes" }),
    ).toEqual({
      input: "x",
      max_output_tokens: 12,
      temperature: 1,
      store: true,
    });
    expect(refusals(() => parseCreateParams({ input: "x", max_output_tokens: 12.5 }))).toEqual([
      "int_from_float max_output_tokens",
    ]);
  });

  it("drops unknown fields of messages, calls, outputs and reasoning", () => {
    const input = [
      { role: "user", content: "q", extra: 1 },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}", namespace: "n" },
      { type: "function_call_output", call_id: "c", output: "o", extra: 1 },
      { type: "reasoning", id: "r", summary: [], status: "completed" },
    ];
    expect(parseCreateParams({ input }).input).toEqual([
      { role: "user", content: "q" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "o" },
      { type: "reasoning", id: "r", summary: [] },
    ]);
  });

  it("keeps hosted items and untyped items unchanged", () => {
    const hosted = { type: "mcp_call", name: "n", arguments: "{}", server_label: "l", colour: "red" };
    const tool = { role: "tool", tool_call_id: "t", content: "done", note: 1 };
    const calling = { role: "assistant", content: null, tool_calls: [] };
    const bare = { role: "assistant", content: [{ type: "output_text", text: "no annotations" }] };
    const input = [hosted, tool, calling, bare];
    expect(parseCreateParams({ input }).input).toEqual(input);
  });

  it("rejects a typed message with output parts but no id or annotations", () => {
    const content = [{ type: "output_text", text: "x" }];
    expect(
      refusals(() => parseCreateParams({ input: [{ type: "message", role: "assistant", content }] })),
    ).toEqual(["missing input.0.id", "missing input.0.content.0.annotations"]);
  });

  it("rejects unknown item types, non-objects and partial token lists", () => {
    expect(refusals(() => parseCreateParams({ input: [{ type: "ghost" }] }))).toEqual([
      "union_tag_invalid input.0",
    ]);
    expect(refusals(() => parseCreateParams({ input: ["x"] }))).toEqual(["model_attributes_type input.0"]);
    expect(
      refusals(() => parseCreateParams({ input: [{ role: "user", content: "q", prompt_token_ids: [1] }] })),
    ).toEqual(["value_error input.0"]);
    expect(refusals(() => parseCreateParams({ input: [{ odd: 1, routed_experts: "x" }] }))).toEqual([
      "value_error input.0",
    ]);
  });

  it("requires exactly one video source", () => {
    const video = (part: object) => () =>
      parseCreateParams({
        input: [{ type: "message", role: "user", content: [{ type: "input_video", ...part }] }],
      });
    expect(refusals(video({ video_url: "u" }))).toEqual([]);
    expect(refusals(video({ video: { url: "u" } }))).toEqual([]);
    expect(refusals(video({}))).toEqual(["value_error input.0.content.0"]);
    expect(refusals(video({ video_url: "" }))).toEqual(["value_error input.0.content.0"]);
    expect(refusals(video({ video_url: "u", video: "u" }))).toEqual(["value_error input.0.content.0"]);
  });

  it("rejects invalid tools", () => {
    const tool = { type: "function", name: "f", parameters: null, strict: null };
    expect(refusals(() => parseCreateParams({ input: "x", tools: [tool] }))).toEqual([]);
    expect(
      refusals(() => parseCreateParams({ input: "x", tools: [{ ...tool, strict: undefined }] })),
    ).toEqual([]);
    expect(refusals(() => parseCreateParams({ input: "x", tools: [{ ...tool, colour: 1 }] }))).toEqual([
      "extra_forbidden tools.0.colour",
    ]);
    const nested = { type: "function", function: { name: "f" } };
    expect(refusals(() => parseCreateParams({ input: "x", tools: [nested] }))).toContain(
      "missing tools.0.name",
    );
  });

  it("checks nested objects: reasoning, text, prompt, tool choice", () => {
    expect(refusals(() => parseCreateParams({ input: "x", reasoning: { effort: "huge" } }))).toEqual([
      "literal_error reasoning.effort",
    ]);
    expect(
      refusals(() => parseCreateParams({ input: "x", text: { format: { type: "json_object", a: 1 } } })),
    ).toEqual(["extra_forbidden text.format.a"]);
    expect(refusals(() => parseCreateParams({ input: "x", tool_choice: { type: "function" } }))).toEqual([
      "missing tool_choice.name",
    ]);
    expect(refusals(() => parseCreateParams({ input: "x", metadata: { a: 1 } }))).toEqual([
      "string_type metadata.a",
    ]);
  });

  it("does not accept __proto__", () => {
    const body: unknown = JSON.parse('{"input":[{"role":"user","content":"q","__proto__":{"polluted":1}}]}');
    const [item] = parseCreateParams(body).input as object[];
    expect(item).toEqual({ role: "user", content: "q" });
    expect(Object.getPrototypeOf(item)).toBe(Object.prototype);
    const extra: unknown = JSON.parse('{"input":"x","__proto__":{}}');
    expect(refusals(() => parseCreateParams(extra))).toEqual(["extra_forbidden __proto__"]);
  });
});

describe("parseResponse", () => {
  it("requires eight fields", () => {
    expect(refusals(() => parseResponse({}, ["body", "response"]))).toEqual(
      ["id", "created_at", "model", "object", "output", "parallel_tool_calls", "tool_choice", "tools"].map(
        (name) => `missing body.response.${name}`,
      ),
    );
  });

  it("keeps unknown keys of the response and drops those of its items", () => {
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "t", annotations: [], extra: 1 }],
    };
    const parsed = parseResponse(answer([message], { _ng_trajectory: { a: 1 } }));
    expect(parsed).toMatchObject({ _ng_trajectory: { a: 1 } });
    expect(parsed.output).toEqual([
      { ...message, content: [{ type: "output_text", text: "t", annotations: [] }] },
    ]);
  });

  it("accepts user messages in the output and rejects items without a type", () => {
    expect(parseResponse(answer([{ type: "message", role: "user", content: "obs" }])).output).toHaveLength(1);
    expect(refusals(() => parseResponse(answer([{ role: "user", content: "obs" }])))).toEqual([
      "union_tag_not_found output.0",
    ]);
  });

  it("reads usage without details, and usage of chat completions", () => {
    const usage = (value: object) => parseResponse(answer([], { usage: value })).usage;
    expect(usage({ input_tokens: 1, output_tokens: 2, total_tokens: 3, cost: 0.1 })).toEqual({
      input_tokens: 1,
      input_tokens_details: { cached_tokens: null },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: null },
      total_tokens: 3,
      cost: 0.1,
    });
    expect(usage({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })).toMatchObject({
      input_tokens: 1,
    });
  });
});
