import { describe, expect, it } from "vitest";
import { checkBlocks, markForMessages, restoreInMessages } from "../../scripts/conformance/original.ts";
import { dumps } from "../base/python/json/json-dumps.ts";
import { ConversionError, type Loss } from "./convert/conversion-loss.ts";
import {
  convertAnthropicMessage,
  convertAnthropicRequest,
} from "./convert/convert-anthropic-to-responses.ts";
import { convertToAnthropicMessage } from "./convert/convert-to-anthropic-message.ts";
import { convertToAnthropicRequest } from "./convert/convert-to-anthropic-request.ts";
import type { ResponseOutputItem } from "./schemas/item-types.ts";
import { parseCreateParams, type ResponseCreateParams } from "./schemas/responses.ts";

const newId = (prefix: string) => `${prefix}_x`;
const user = (...content: object[]) => ({ messages: [{ role: "user", content }] });
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } };

describe("convertAnthropicRequest", () => {
  it("groups text and images, and ends a group at other blocks", () => {
    const request = user(
      { type: "text", text: "a" },
      image,
      {
        type: "tool_result",
        tool_use_id: "t",
        content: [
          { type: "text", text: "r1" },
          { type: "text", text: "r2" },
        ],
      },
      { type: "text", text: "b" },
    );
    expect(convertAnthropicRequest(request).input).toEqual([
      {
        role: "user",
        type: "message",
        content: [
          { type: "input_text", text: "a" },
          { type: "input_image", detail: "auto", image_url: "data:image/png;base64,QUJD" },
        ],
      },
      { type: "function_call_output", call_id: "t", output: "r1\nr2" },
      { role: "user", type: "message", content: "b" },
    ]);
  });

  it("converts thinking and tool use, with the JSON format of Python", () => {
    const content = [
      { type: "thinking", thinking: "p", signature: "s" },
      { type: "tool_use", id: "t", name: "f", input: { a: [1, "é"] } },
    ];
    expect(convertAnthropicRequest({ messages: [{ role: "assistant", content }] }, { newId }).input).toEqual([
      {
        type: "reasoning",
        id: "rs_x",
        summary: [{ type: "summary_text", text: "p" }],
        encrypted_content: "s",
      },
      {
        type: "function_call",
        id: "t",
        call_id: "t",
        name: "f",
        arguments: '{"a": [1, "\\u00e9"]}',
        status: "completed",
      },
    ]);
  });

  it("joins system blocks, defaults the schema and maps choices", () => {
    const base = {
      messages: [],
      system: [
        { type: "text", text: "A" },
        { type: "text", text: "B" },
      ],
    };
    const tools = [{ name: "f" }];
    const convert = (type: string, more = {}) =>
      convertAnthropicRequest({ ...base, tools, tool_choice: { type, ...more } });
    expect(convert("any")).toMatchObject({
      instructions: "A\nB",
      tool_choice: "required",
      tools: [{ name: "f", strict: false, parameters: { type: "object", properties: {} } }],
    });
    expect(convert("tool", { name: "f" }).tool_choice).toEqual({ type: "function", name: "f" });
    expect(convert("none").tool_choice).toBe("none");
    expect(convertAnthropicRequest({ messages: [], system: "" })).toEqual({ input: [] });
  });

  it("keeps structured output and single tool calls", () => {
    const schema = { type: "object" };
    const body = {
      messages: [],
      output_config: { format: { type: "json_schema", schema } },
      tools: [{ name: "f", input_schema: schema }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    };
    expect(convertAnthropicRequest(body)).toMatchObject({
      text: { format: { type: "json_schema", name: "output", schema, strict: true } },
      tool_choice: "auto",
      parallel_tool_calls: false,
    });
    expect(() => convertAnthropicRequest({ messages: [], output_config: { format: { type: "x" } } })).toThrow(
      "output_config.format",
    );
  });

  it("reports losses", () => {
    const losses: Loss[] = [];
    const body = {
      ...user({ type: "tool_result", tool_use_id: "t", is_error: true }),
      top_k: 3,
      stop_sequences: ["x"],
      stream: true,
    };
    convertAnthropicRequest(body, { onLoss: (loss) => losses.push(loss) });
    expect(losses.map(({ field }) => field)).toEqual([
      "messages.0.content.0.is_error",
      "top_k",
      "stop_sequences",
    ]);
  });

  it.each([
    user({ type: "image", source: { type: "url", url: "u" } }),
    user({ type: "image", source: { type: "base64", media_type: "image/bmp", data: "" } }),
    user({ type: "redacted_thinking", data: 5 }),
    user({ type: "document" }),
    user({ type: "tool_result", tool_use_id: "t", content: [image] }),
    { messages: [{ role: "user", content: 5 }] },
    { messages: "x" },
    "text",
  ])("rejects %j", (body) => {
    expect(() => convertAnthropicRequest(body)).toThrow(ConversionError);
  });
});

describe("convertToAnthropicMessage", () => {
  const say = (text: string): ResponseOutputItem => ({
    type: "message",
    id: "m",
    content: [{ type: "output_text", text, annotations: [] }],
  });
  const call = (text: string): ResponseOutputItem => ({
    type: "function_call",
    call_id: "c",
    name: "f",
    arguments: text,
  });
  const convert = (output: ResponseOutputItem[], more = {}) =>
    convertToAnthropicMessage({ output, ...more }, { model: "asked", newId });

  it("converts every kind of item in order", () => {
    const refusal: ResponseOutputItem = {
      type: "message",
      id: "m",
      content: [{ type: "refusal", refusal: "no" }],
    };
    const reasoning: ResponseOutputItem = {
      type: "reasoning",
      id: "r",
      summary: [{ type: "summary_text", text: "t" }],
    };
    expect(convert([reasoning, say("a"), refusal, call("")])).toEqual({
      id: "msg_x",
      type: "message",
      role: "assistant",
      model: "asked",
      content: [
        { type: "thinking", thinking: "t", signature: "" },
        { type: "text", text: "a" },
        { type: "text", text: "no" },
        { type: "tool_use", id: "c", name: "f", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  it("keeps the form of numbers", () => {
    expect(dumps(convert([call('{"a": 1.0, "b": 12345678901234567890}')]).content)).toContain(
      '"input": {"a": 1.0, "b": 12345678901234567890}',
    );
  });

  it("sets the stop reason", () => {
    expect(convert([say("a")]).stop_reason).toBe("end_turn");
    expect(convert([call("{}")], { incomplete_details: { reason: "max_output_tokens" } }).stop_reason).toBe(
      "max_tokens",
    );
    expect(convert([say("a")], { incomplete_details: { reason: "content_filter" } }).stop_reason).toBe(
      "refusal",
    );
  });

  it("rejects arguments that are not objects, and items without an equivalent", () => {
    expect(() => convert([call("[1]")])).toThrow(ConversionError);
    expect(() => convert([call("{broken")])).toThrow(ConversionError);
    expect(() => convert([{ type: "function_call_output", call_id: "c", output: "" }])).toThrow(
      ConversionError,
    );
  });
});

describe("convertToAnthropicRequest", () => {
  const convert = (request: object, options = {}) =>
    convertToAnthropicRequest(parseCreateParams(request), { model: "claude", maxTokens: 10, ...options });

  it("joins consecutive items of one role and keeps system texts separate", () => {
    const input = [
      { role: "system", content: "S" },
      { role: "user", content: "a" },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_image", image_url: "data:image/png;base64,QUJD", detail: "auto" }],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "o" },
    ];
    expect(convert({ instructions: "I", input, max_output_tokens: 3 })).toEqual({
      model: "claude",
      max_tokens: 3,
      system: [
        { type: "text", text: "I" },
        { type: "text", text: "S" },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "a" }, image] },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "o" }] },
      ],
    });
  });

  it("accepts thinking from one setting only", () => {
    expect(convert({ input: "x" }, { thinkingBudgetTokens: 5 }).thinking).toEqual({
      type: "enabled",
      budget_tokens: 5,
    });
    const both = { thinkingBudgetTokens: 5, extraBody: { thinking: { type: "disabled" } } };
    expect(() => convert({ input: "x" }, both)).toThrow("more than one");
  });

  it("rejects sampling parameters for models without them", () => {
    expect(() => convert({ input: "x", temperature: 1 }, { model: "claude-opus-4-7-x" })).toThrow(
      "temperature",
    );
    expect(convert({ input: "x" }, { model: "claude-opus-4-7-x" })).toMatchObject({ max_tokens: 10 });
  });

  it("maps choices and rejects hosted tools and remote images", () => {
    const tools = [{ type: "function", name: "f", parameters: null, strict: null }];
    expect(convert({ input: "x", tools, tool_choice: { type: "function", name: "f" } })).toMatchObject({
      tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "tool", name: "f" },
    });
    expect(() => convert({ input: "x", tools: [{ type: "local_shell" }] })).toThrow(ConversionError);
    const remote = [{ role: "user", content: [{ type: "input_image", image_url: "https://x/y.png" }] }];
    expect(() => convert({ input: remote })).toThrow("data URLs");
  });

  it("reports losses", () => {
    const losses: Loss[] = [];
    convert(
      { input: "x", metadata: { a: "b" }, text: { verbosity: "low" } },
      { onLoss: (loss: Loss) => losses.push(loss) },
    );
    expect(losses.map(({ field }) => field)).toEqual(["text.verbosity", "metadata"]);
  });

  it("asks for structured output and for single tool calls, or rejects", () => {
    const schema = { type: "object" };
    const format = { type: "json_schema", name: "person", schema, strict: true };
    const given = {
      input: "x",
      text: { format },
      tools: [{ type: "function", name: "f", parameters: schema, strict: false }],
      parallel_tool_calls: false,
    };
    expect(convert(given)).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
    expect(() => convert({ input: "x", text: { format: { type: "json_object" } } })).toThrow(
      "use json_schema",
    );
  });
});

describe("convertAnthropicMessage", () => {
  const convert = (message: unknown) =>
    convertAnthropicMessage(message, { input: "x" }, { model: "m", newId, now: 5 });

  it("joins consecutive texts and computes the total", () => {
    const response = convert({
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
        { type: "tool_use", id: "t", name: "f", input: { k: 1 } },
        { type: "text", text: "c" },
      ],
      stop_reason: "model_context_window_exceeded",
      usage: { input_tokens: 1, output_tokens: 2 },
    });
    expect(response.output).toMatchObject([
      { content: [{ text: "ab" }] },
      { name: "f", arguments: '{"k": 1}' },
      { content: [{ text: "c" }] },
    ]);
    expect(response).toMatchObject({
      created_at: 5,
      incomplete_details: { reason: "max_output_tokens" },
      usage: { total_tokens: 3, input_tokens_details: { cached_tokens: null } },
    });
    expect(response.status).toBeUndefined();
  });

  it("converts redacted thinking in both directions, which the original rejects", () => {
    const block = { type: "redacted_thinking" as const, data: "ABC" };
    const message = { content: [{ type: "thinking", thinking: "t", signature: "S" }, block] };
    const { output } = convert(message);
    expect(output[1]).toEqual({
      id: expect.any(String),
      summary: [],
      type: "reasoning",
      encrypted_content: "ABC",
    });
    expect(() => checkBlocks(message)).toThrow("redacted thinking");

    const params = { input: output as never };
    const sent = (given: ResponseCreateParams) =>
      convertToAnthropicRequest(given, { model: "m", maxTokens: 1 }).messages[0]?.content;
    expect(sent(params)).toEqual(message.content);
    expect(sent(markForMessages(params))).toEqual(message.content.slice(0, 1));

    const answered = convertToAnthropicMessage({ output }, { model: "m" }).content;
    expect(answered).toEqual(message.content);
    const asked = convertAnthropicRequest({ messages: [{ role: "assistant", content: answered }] });
    expect(asked.input[1]).toMatchObject({ type: "reasoning", summary: [], encrypted_content: "ABC" });
  });

  it("creates an empty message without content, and rejects unknown blocks", () => {
    expect(convert({ content: [] }).output).toMatchObject([{ content: [{ text: "" }] }]);
    expect(() => convert({ content: [{ type: "server_tool_use" }] })).toThrow(ConversionError);
    expect(() => convert(null)).toThrow(ConversionError);
  });
});

describe("like the original", () => {
  const request = parseCreateParams({ input: "q" });
  const read = (message: object) => convertAnthropicMessage(message, request, { model: "m" });
  const ask = (content: unknown, more = {}) =>
    convertAnthropicRequest({ messages: [{ role: "user", content }], ...more });

  it("accepts blocks without text, and replaces an empty schema", () => {
    expect(
      ask([{ type: "text" }, { type: "tool_result", tool_use_id: "t", content: [{ type: "text" }] }]).input,
    ).toEqual([
      { type: "message", role: "user", content: "" },
      { type: "function_call_output", call_id: "t", output: "" },
    ]);
    expect(ask("q", { tools: [{ name: "p", input_schema: {} }] }).tools).toMatchObject([
      { parameters: { type: "object", properties: {} } },
    ]);
    expect(convertAnthropicRequest({ model: "m" })).toEqual({ input: [], model: "m" });
    const tools = [{ type: "function", name: "p", parameters: {}, strict: false }];
    const sent = convertToAnthropicRequest(parseCreateParams({ input: "q", tools }), {
      model: "m",
      maxTokens: 1,
    });
    expect(sent.tools).toEqual([{ name: "p", input_schema: { type: "object", properties: {} } }]);
  });

  it.each([null, [{ type: "text", text: null }], [{ type: "thinking", thinking: "t", signature: 5 }]])(
    "rejects the content %j in both directions",
    (content) => {
      expect(() => ask(content)).toThrow(ConversionError);
      expect(() => read({ content })).toThrow(ConversionError);
    },
  );

  it("writes a null input as null, and reads thinking from either field", () => {
    const [call, thought] = read({
      content: [
        { type: "tool_use", id: "t", name: "f", input: null },
        { type: "thinking", thinking: "", text: "x" },
      ],
    }).output;
    expect([call, thought]).toMatchObject([{ arguments: "null" }, { summary: [{ text: "x" }] }]);
  });

  it("reads the counts of Anthropic, and rejects values that are not numbers", () => {
    const usage = { input_tokens: 2, output_tokens: 3, cache_read_input_tokens: -1 };
    expect(read({ usage }).usage).toMatchObject({
      total_tokens: 5,
      input_tokens_details: { cached_tokens: -1 },
    });
    for (const input_tokens of [null, "4", 1.5])
      expect(() => read({ usage: { input_tokens } })).toThrow("usage");
  });

  it("converts the parts of a tool's output, which the original sends unchanged", () => {
    const output = [{ type: "input_text" as const, text: "o" }];
    const params = parseCreateParams({ input: [{ type: "function_call_output", call_id: "c", output }] });
    const body = convertToAnthropicRequest(params, { model: "m", maxTokens: 1, thinking: null });
    expect(body.messages).toMatchObject([{ content: [{ content: [{ type: "text", text: "o" }] }] }]);
    expect(restoreInMessages(body, params).messages).toMatchObject([{ content: [{ content: output }] }]);
  });
});

it("leaves empty texts out of Messages requests", () => {
  const told: string[] = [];
  const { messages } = convertToAnthropicRequest(
    {
      input: [
        { role: "user", content: "" },
        {
          role: "user",
          content: [
            { type: "input_text", text: " " },
            { type: "input_text", text: "Hi." },
          ],
        },
      ],
    },
    { model: "m", maxTokens: 5, onLoss: ({ field }) => told.push(field) },
  );
  expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Hi." }] }]);
  expect(told).toEqual(["input.0.content", "input.1.content"]);
});
