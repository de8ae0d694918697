import { describe, expect, it } from "vitest";
import { checkRequestForChat } from "../../../scripts/conformance/original.ts";
import { parseCreateParams } from "../schemas/responses.ts";
import { ConversionError, type Loss } from "./conversion-loss.ts";
import { convertResponsesToChat, type ResponsesToChatOptions } from "./convert-responses-to-chat.ts";

const convert = (request: object, options?: ResponsesToChatOptions) =>
  convertResponsesToChat(parseCreateParams(request), options);
const messages = (input: unknown, options?: ResponsesToChatOptions) => convert({ input }, options).messages;

const ferry = { type: "function", name: "ferry", parameters: { type: "object" }, strict: true } as const;

describe("messages", () => {
  it("converts a string input to a part list and keeps the strings of messages", () => {
    expect(messages("hi")).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }] }]);
    expect(messages([{ role: "user", content: "hi" }])).toEqual([{ role: "user", content: "hi" }]);
  });

  it("joins consecutive items of the assistant into one message", () => {
    const input = [
      { role: "user", content: "q" },
      {
        type: "reasoning",
        id: "r",
        summary: [
          { type: "summary_text", text: "hm" },
          { type: "summary_text", text: "" },
        ],
      },
      { role: "assistant", content: "a" },
      { type: "function_call", call_id: "1", name: "f", arguments: "{" },
      { type: "function_call", call_id: "2", name: "g", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: [{ type: "input_text", text: "o" }] },
      { type: "reasoning", id: "r2", summary: [] },
    ];
    expect(messages(input)).toEqual([
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: "<think>hm</think>a",
        tool_calls: [
          { id: "1", type: "function", function: { name: "f", arguments: "{" } },
          { id: "2", type: "function", function: { name: "g", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "o" }] },
      { role: "assistant", content: null },
    ]);
  });

  it("converts images and videos given as text or object", () => {
    const content = [
      { type: "input_image", image_url: { url: "u" }, detail: "low" },
      { type: "input_video", video: { url: "v" } },
    ];
    expect(messages([{ role: "user", content }])).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "u", detail: "low" } },
          { type: "video_url", video_url: { url: "v" } },
        ],
      },
    ]);
  });

  it("accepts chat messages without a type", () => {
    const call = { id: "t", type: "function", function: { name: "f", arguments: "{}" } };
    const input = [
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: "t", content: "done" },
    ];
    expect(messages(input)).toEqual([
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "t", content: "done" },
    ]);
  });

  it("puts instructions first and joins only the leading system messages", () => {
    const input = [
      { role: "system", content: "B" },
      {
        role: "developer",
        content: [
          { type: "input_text", text: "C" },
          { type: "input_text", text: "D" },
        ],
      },
      { role: "user", content: "q" },
      { role: "system", content: "late" },
    ];
    expect(convert({ instructions: "A", input }).messages).toEqual([
      { role: "system", content: "A\n\nB\n\nCD" },
      { role: "user", content: "q" },
      { role: "system", content: "late" },
    ]);
    expect(convert({ instructions: "", input }).messages).toHaveLength(4);
  });

  it("keeps token lists only if requested, and those of the last item", () => {
    const tokens = (id: number) => ({
      prompt_token_ids: [id],
      generation_token_ids: [id],
      generation_log_probs: [-id],
    });
    const input = [
      { role: "assistant", content: "a", ...tokens(1) },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}", ...tokens(2), routed_experts: "x" },
    ];
    expect(messages(input)[0]).not.toHaveProperty("prompt_token_ids");
    expect(messages(input, { returnTokenIds: true })[0]).toMatchObject({ ...tokens(2), routed_experts: "x" });
  });

  it.each([
    ["a hosted item", [{ type: "mcp_call", name: "n", arguments: "", server_label: "l" }], "unsupported"],
    ["a file", [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }], "unsupported"],
    ["an image without link", [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }], "value"],
    [
      "an image from a tool",
      [{ type: "function_call_output", call_id: "c", output: [{ type: "input_image" }] }],
      "unsupported",
    ],
    ["an item without type and role", [{ odd: 1 }], "unsupported"],
    ["an unknown role", [{ role: "judge", content: "x" }], "unsupported"],
    ["a user without content", [{ role: "user" }], "value"],
    ["a tool turn without call id", [{ role: "tool", content: "x" }], "value"],
  ])("rejects %s", (_, input, failure) => {
    expect(() => messages(input)).toThrow(ConversionError);
    expect(() => messages(input)).toThrow(expect.objectContaining({ failure }));
  });
});

describe("settings", () => {
  it("renames settings, keeps explicit nulls and drops empty settings", () => {
    const { messages: _, ...rest } = convert({
      input: "x",
      max_output_tokens: 5,
      reasoning: { effort: "low" },
      temperature: null,
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: false,
    });
    expect(rest).toEqual({ max_tokens: 5, reasoning_effort: "low", temperature: null });
  });

  it("nests function tools and keeps the choice with them", () => {
    const chat = convert({ input: "x", tools: [ferry], tool_choice: "required", parallel_tool_calls: false });
    expect(chat.tools).toEqual([
      { type: "function", function: { name: "ferry", parameters: { type: "object" } } },
    ]);
    expect(chat).toMatchObject({ tool_choice: "required", parallel_tool_calls: false });
  });

  it("converts a named choice, which the original rejects", () => {
    const request = { input: "x", tools: [ferry], tool_choice: { type: "function", name: "ferry" } };
    expect(convert(request).tool_choice).toEqual({ type: "function", function: { name: "ferry" } });
    expect(() => checkRequestForChat(parseCreateParams(request))).toThrow("a named tool choice");
  });

  it("rejects a required choice without tools, and hosted tools", () => {
    expect(() => convert({ input: "x", tool_choice: "required" })).toThrow("at least one tool");
    expect(() => convert({ input: "x", tools: [{ type: "local_shell" }] })).toThrow("local_shell");
  });

  it("asks for structured output as chat requests do", () => {
    const schema = { name: "person", schema: { type: "object" }, strict: true };
    const asked = (format: object) => convert({ input: "x", text: { format } }).response_format;
    expect(asked({ type: "json_schema", ...schema })).toEqual({ type: "json_schema", json_schema: schema });
    expect(asked({ type: "json_object" })).toEqual({ type: "json_object" });
    expect(asked({ type: "text" })).toBeUndefined();
  });

  it("reports every loss", () => {
    const losses: Loss[] = [];
    convert(
      {
        input: [
          { type: "message", id: "m", role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
          { type: "reasoning", id: "r", summary: [], encrypted_content: "e" },
        ],
        text: { format: { type: "json_object" }, verbosity: "low" },
        truncation: "auto",
        previous_response_id: "p",
        include: ["reasoning.encrypted_content"],
        background: false,
        tools: [ferry],
        reasoning: { effort: "low", summary: "auto" },
      },
      { onLoss: (loss) => losses.push(loss) },
    );
    expect(losses.map(({ field }) => field)).toEqual([
      "input.0.content",
      "input.1",
      "input.1.encrypted_content",
      "reasoning.summary",
      "text.verbosity",
      "tools.0.strict",
      "truncation",
      "include",
      "previous_response_id",
    ]);
    expect(losses.at(-1)?.essential).toBe(true);
  });
});

describe("chat messages without a type", () => {
  const convert = (input: unknown[], options = {}) =>
    convertResponsesToChat(parseCreateParams({ input }), options).messages;

  it("keep the text parts of a tool message, which the original rejects", () => {
    const turn = { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "noon" }] };
    expect(convert([turn])).toEqual([turn]);
    expect(() => checkRequestForChat(parseCreateParams({ input: [turn] }))).toThrow("chat parts");
  });

  it("must have one video source", () => {
    const part = { type: "input_video", video: "https://a", video_url: "https://b" };
    expect(() => convert([{ role: "user", content: [part] }])).toThrow("one of video_url and video");
  });

  it("keep empty token lists", () => {
    const tokens = { prompt_token_ids: [], generation_token_ids: [], generation_log_probs: [] };
    const messages = convert([{ role: "assistant", content: "a", ...tokens }], { returnTokenIds: true });
    expect(messages).toEqual([{ role: "assistant", content: "a", ...tokens }]);
  });
});

describe("like the original", () => {
  it("leaves out a null model and converts every tool with a name to a function", () => {
    const custom = { type: "custom", name: "n", format: { type: "text" } };
    expect(convert({ input: "x", model: null, tools: [custom], stream: 0 })).toEqual({
      messages: [{ role: "user", content: [{ type: "text", text: "x" }] }],
      tools: [{ type: "function", function: { name: "n" } }],
      stream: false,
    });
    expect(() => convert({ input: "x", tools: [{ type: "web_search" }] })).toThrow("only functions have");
  });

  it("accepts only text in system messages, unless instructions absorb them", () => {
    const image = { type: "input_image", image_url: "u", detail: "auto" };
    const input = [{ type: "message", role: "system", content: [{ type: "input_text", text: "S" }, image] }];
    expect(() => messages(input)).toThrow("cannot hold 'image_url' parts");
    expect(convert({ input, instructions: "I" }).messages).toEqual([{ role: "system", content: "I\n\nS" }]);
  });

  it.each([
    { role: "user", content: [{ type: "input_image", image_url: "u", detail: null }] },
    { role: "user", content: [{ type: "input_image", image_url: "u", detail: "original" }] },
    { role: "assistant", content: ["x", { type: "weird" }] },
    { role: "assistant", content: null, tool_calls: "x" },
    { call_id: "c", name: "f", arguments: "{}" },
  ])("rejects %j", (item) => {
    expect(() => messages([item])).toThrow(ConversionError);
  });
});

it("reports assistant items whose position in the turn is lost", () => {
  const message = (text: string) => ({
    type: "message" as const,
    role: "assistant" as const,
    content: [{ type: "output_text" as const, text, annotations: [] }],
  });
  const reasoning = (text: string) => ({
    type: "reasoning" as const,
    id: "rs_1",
    summary: [{ type: "summary_text" as const, text }],
  });
  const losses = (...input: unknown[]) => {
    const told: string[] = [];
    convertResponsesToChat({ input } as never, { onLoss: ({ field }) => told.push(field) });
    return told;
  };
  expect(losses(reasoning("a"), message("b"))).toEqual([]);
  expect(losses(reasoning("a"), message("b"), reasoning("c"), message("d"))).toEqual(["input.2", "input.3"]);
});
