import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildVllmChatBody } from "../../libraries/vllm/chat-body.ts";
import { ConversionError } from "./convert/conversion-loss.ts";
import {
  convertAnthropicMessage,
  convertAnthropicRequest,
} from "./convert/convert-anthropic-to-responses.ts";
import { convertChatCompletion, convertChatRequest } from "./convert/convert-chat-to-responses.ts";
import { convertResponsesToChat } from "./convert/convert-responses-to-chat.ts";
import { convertToAnthropicMessage } from "./convert/convert-to-anthropic-message.ts";
import { convertToAnthropicRequest } from "./convert/convert-to-anthropic-request.ts";
import { mergeReasoning } from "./convert/merge-reasoning.ts";
import { lastAssistantText, lastItemText, outputText, parseArguments } from "./read-output.ts";
import { HOSTED_ITEM_TYPES } from "./schemas/item-types.ts";
import { materializeCreateParams, materializeResponse } from "./schemas/materialize.ts";
import { parseCreateParams, parseResponse } from "./schemas/responses.ts";
import { parseChatParams } from "./schemas/validate-chat.ts";
import { parseChatCompletion } from "./schemas/validate-completion.ts";
import { ValidationError } from "./schemas/validation.ts";
import { parseSanitizedParams, sanitizeStreamingResponses } from "./stream/sanitize-streaming.ts";

/** Words that steer the parsers, so that random values reach deep into them. */
const words = [
  ...HOSTED_ITEM_TYPES,
  ...[
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "input_text",
    "input_image",
    "input_video",
  ],
  ...[
    "output_text",
    "refusal",
    "summary_text",
    "user",
    "assistant",
    "system",
    "tool",
    "function",
    "auto",
    "text",
  ],
  ...["response", "thinking", "tool_use", "tool_result", "image", "base64", "image/png"],
];
const keys = [
  ...[
    "type",
    "role",
    "content",
    "id",
    "text",
    "call_id",
    "name",
    "arguments",
    "output",
    "summary",
    "input",
    "tools",
  ],
  ...[
    "model",
    "object",
    "created_at",
    "messages",
    "choices",
    "message",
    "tool_calls",
    "function",
    "usage",
    "metadata",
  ],
  ...[
    "parallel_tool_calls",
    "tool_choice",
    "parameters",
    "strict",
    "annotations",
    "image_url",
    "source",
    "data",
  ],
  ...[
    "prompt_token_ids",
    "generation_token_ids",
    "generation_log_probs",
    "__proto__",
    "constructor",
    "toString",
  ],
];
const leaf = fc.oneof(
  fc.constantFrom(...words),
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie("value"), {
      maxKeys: 8,
      noNullPrototype: true,
    }),
  ),
})).value;
const body = (...required: string[]) =>
  fc.tuple(json, fc.tuple(...required.map(() => json))).map(([base, values]) => ({
    ...(typeof base === "object" ? base : {}),
    ...Object.fromEntries(required.map((name, index) => [name, values[index]])),
  }));

function onlyKnownErrors(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ValidationError) && !(error instanceof ConversionError)) throw error;
  }
}

const runs = { numRuns: 400 };

describe("arbitrary JSON", () => {
  it("never crashes the Responses parsers and conversions", () => {
    fc.assert(
      fc.property(fc.oneof(json, body("input"), body("input", "tools")), (value) => {
        onlyKnownErrors(() => {
          const params = parseCreateParams(value);
          materializeCreateParams(params);
          onlyKnownErrors(() => convertResponsesToChat(params));
          onlyKnownErrors(() => convertToAnthropicRequest(params, { model: "m", maxTokens: 1 }));
        });
      }),
      runs,
    );
  });

  it("parses its own output to the same value", () => {
    fc.assert(
      fc.property(body("input"), (value) => {
        onlyKnownErrors(() => {
          const once = parseCreateParams(value);
          expect(parseCreateParams(once)).toEqual(once);
          expect(parseCreateParams(materializeCreateParams(once))).toBeTruthy();
        });
      }),
      runs,
    );
  });

  it("never crashes the response parser and its readers", () => {
    const envelope = { id: "r", created_at: 1, model: "m", object: "response", parallel_tool_calls: true };
    fc.assert(
      fc.property(fc.array(json), json, (output, usage) => {
        onlyKnownErrors(() => {
          const response = parseResponse({ ...envelope, tool_choice: "auto", tools: [], output, usage });
          materializeResponse(response);
          outputText(response);
          lastItemText(response);
          lastAssistantText(response);
          convertToAnthropicMessage(response, { model: "m" });
        });
        onlyKnownErrors(() => parseResponse(usage));
      }),
      runs,
    );
  });

  it("never crashes the chat and Messages parsers", () => {
    const request = { input: "x", model: "m" };
    fc.assert(
      fc.property(fc.oneof(json, body("messages"), body("choices")), (value) => {
        onlyKnownErrors(() => convertChatRequest(parseChatParams(value)));
        onlyKnownErrors(() => convertChatCompletion(parseChatCompletion(value), request));
        onlyKnownErrors(() => convertAnthropicRequest(value));
        onlyKnownErrors(() => convertAnthropicMessage(value, request, { model: "m" }));
      }),
      runs,
    );
  });

  it("never crashes the sanitizers", () => {
    fc.assert(
      fc.property(body("input", "tools"), (value) => {
        onlyKnownErrors(() => parseSanitizedParams(sanitizeStreamingResponses(value).request));
      }),
      runs,
    );
  });

  it("never crashes the parser of arguments", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseArguments(text)));
  });
});

/** Whole bodies of every kind; one place in them at a time is replaced by something else. */
const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-1] };
const items = [
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "q" },
      { type: "input_image", image_url: "u" },
    ],
  },
  { type: "message", role: "user", content: [{ type: "input_video", video_url: { url: "u" } }] },
  { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "t" }], content: null },
  { type: "function_call", call_id: "c", name: "f", arguments: "{}", ...tokens },
  { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "o" }] },
  {
    type: "message",
    id: "m",
    role: "assistant",
    content: [{ type: "output_text", text: "a", annotations: [{}] }],
  },
  { type: "mcp_call", name: "n", arguments: "{}", server_label: "l" },
];
const chatCall = { id: "t", type: "function", function: { name: "f", arguments: "{}" } };
const untyped = [
  { role: "assistant", content: null, tool_calls: [chatCall] },
  { role: "tool", tool_call_id: "t", content: "done" },
];
const tool = { type: "function", name: "f", parameters: {}, strict: true };
const samples = {
  params: {
    input: [...items.slice(0, 6), ...untyped],
    tools: [tool],
    reasoning: { effort: "low" },
    text: { format: { type: "text" } },
  },
  response: {
    id: "r",
    created_at: 1,
    model: "m",
    object: "response",
    output: items,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [tool],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 1 } },
  },
  chat: {
    messages: [
      { role: "system", content: [{ type: "text", text: "s" }] },
      { role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] },
      { role: "assistant", content: "<think>a</think>b", tool_calls: [chatCall], ...tokens },
      { role: "tool", tool_call_id: "t", content: [{ type: "text", text: "o" }] },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: {}, strict: true } }],
    tool_choice: { type: "function", function: { name: "f" } },
  },
  completion: {
    id: "c",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: "x", tool_calls: [chatCall] },
      },
    ],
    usage: { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } },
  },
  messages: {
    model: "m",
    max_tokens: 5,
    system: [{ type: "text", text: "s" }],
    messages: [
      {
        role: "user",
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "QQ==" } }],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t" },
          { type: "tool_use", id: "u", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "u", content: [{ type: "text", text: "o" }] }],
      },
    ],
    tools: [{ name: "f", input_schema: {} }],
    tool_choice: { type: "tool", name: "f" },
  },
  answer: {
    content: [
      { type: "text", text: "a" },
      { type: "thinking", thinking: "t" },
      { type: "tool_use", id: "u", name: "f", input: {} },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};

function placesIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...path, key]))];
}

function replaceAt(value: unknown, path: (string | number)[], replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy, key, replaceAt(Reflect.get(value as object, key), rest, replacement));
  return copy;
}

const mutant = (sample: unknown) =>
  fc
    .tuple(fc.constantFrom(...placesIn(sample)), json)
    .map(([path, replacement]) => replaceAt(sample, path, replacement));

describe("one wrong value in a valid body", () => {
  const request = { input: "x", model: "m" };
  const consumers: [keyof typeof samples, (value: unknown) => void][] = [
    ["params", (value) => void convertResponsesToChat(parseCreateParams(value), { returnTokenIds: true })],
    [
      "params",
      (value) => void convertToAnthropicRequest(parseCreateParams(value), { model: "m", maxTokens: 1 }),
    ],
    ["params", (value) => void materializeCreateParams(parseCreateParams(value))],
    ["params", (value) => void sanitizeStreamingResponses(value as Record<string, unknown>)],
    ["response", (value) => void convertToAnthropicMessage(parseResponse(value), { model: "m" })],
    ["response", (value) => void materializeResponse(parseResponse(value))],
    [
      "response",
      (value) => void [outputText, lastItemText, lastAssistantText].map((read) => read(parseResponse(value))),
    ],
    ["chat", (value) => void convertChatRequest(parseChatParams(value), { returnTokenIds: true })],
    ["chat", (value) => void buildVllmChatBody(parseChatParams(value), { model: "m" })],
    [
      "completion",
      (value) => void convertChatCompletion(mergeReasoning(parseChatCompletion(value), {}), request),
    ],
    ["messages", (value) => void convertAnthropicRequest(value)],
    ["answer", (value) => void convertAnthropicMessage(value, request, { model: "m" })],
  ];

  it.each(consumers)("of the kind '%s' is rejected or converted", (kind, consume) => {
    onlyKnownErrors(() => consume(samples[kind]));
    fc.assert(
      fc.property(mutant(samples[kind]), (value) => {
        if (typeof value === "object" && value !== null) onlyKnownErrors(() => consume(value));
      }),
      runs,
    );
  });
});
