import { describe, expect, it } from "vitest";
import { fewChatChunks, fewResponseEvents, withoutSignatures } from "../../scripts/conformance/original.ts";
import type { JsonObject } from "../base/python/json/json-object.ts";
import type { AnthropicMessage } from "./schemas/anthropic-types.ts";
import type { ChatCompletion } from "./schemas/chat-types.ts";
import { assembleStream } from "./stream/assemble-stream.ts";
import {
  replayAnthropicFailure,
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  replayResponseFailure,
} from "./stream/replay.ts";
import { type Dialect, decodeSse, encodeSse, type SseEvent, streamOutcome } from "./stream/sse.ts";

const wire = (events: Iterable<SseEvent>) => decodeSse([...events].map(encodeSse).join(""));
const types = (events: SseEvent[]) => events.map(({ event }) => event);

const message: AnthropicMessage = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [
    { type: "thinking", thinking: "t", signature: "" },
    { type: "text", text: "hi" },
    { type: "tool_use", id: "u", name: "f", input: { a: 1 } },
  ],
  stop_reason: "tool_use",
  usage: { input_tokens: 1, output_tokens: 2 },
};

const completion: ChatCompletion & JsonObject = {
  id: "c",
  object: "chat.completion",
  created: 3,
  model: "m",
  system_fingerprint: "fp",
  choices: [
    {
      index: 4,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "hi",
        reasoning_content: "r",
        tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    },
  ],
  usage: { prompt_tokens: 1 },
};

describe("Responses stream", () => {
  const response = {
    id: "resp_1",
    status: "incomplete",
    output: [
      { type: "function_call", name: "zoo__feed", call_id: "c", arguments: "{}" },
      { type: "function_call", name: "toString", call_id: "d", arguments: "{}" },
    ],
  };

  it("has the events of each item and ends with the response, with restored names", () => {
    const events = wire(replayResponse(response, { zoo__feed: ["zoo", "feed"] }));
    const call = [
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
    ];
    expect(types(events)).toEqual(["response.created", ...call, ...call, "response.completed"]);
    expect(assembleStream("responses", events)).toMatchObject({
      status: "incomplete",
      output: [{ namespace: "zoo", name: "feed" }, { name: "toString" }],
    });
    expect(streamOutcome("responses", events)).toBe("complete");
  });

  it("contains the events of the original", () => {
    const events = wire(fewResponseEvents(replayResponse(response), response));
    expect(types(events)).toEqual([
      "response.created",
      "response.output_item.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.some(({ data }) => "sequence_number" in (data as object))).toBe(false);
  });

  it("assembles the completed items of an interrupted stream", () => {
    const events = wire(replayResponse(response)).slice(0, 6);
    expect(assembleStream("responses", events)).toMatchObject({
      status: "in_progress",
      output: [{ call_id: "c" }],
    });
    expect(streamOutcome("responses", events)).toBeUndefined();
  });

  it("reports a failure", () => {
    const events = wire(replayResponseFailure("down"));
    expect(types(events)).toEqual(["response.created", "response.failed"]);
    expect(streamOutcome("responses", events)).toBe("error");
    expect(assembleStream("responses", events)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "down" },
    });
  });
});

describe("chat stream", () => {
  it("assembles to the replayed completion", () => {
    const events = wire(replayChatCompletion(completion, { includeUsage: true }));
    expect(events).toHaveLength(7);
    const [choice] = completion.choices;
    expect(assembleStream("chat", events)).toEqual({ ...completion, choices: [{ ...choice, index: 0 }] });
    expect(streamOutcome("chat", events)).toBe("complete");
  });

  it("has the usage only if requested, and no delta for an empty message", () => {
    const empty: ChatCompletion = {
      ...completion,
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "" } }],
    };
    expect(wire(replayChatCompletion(empty))).toHaveLength(3);
  });

  it("has refusals and the old function_call, unlike the original", () => {
    const rejected: ChatCompletion = {
      ...completion,
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          message: {
            role: "assistant",
            content: null,
            refusal: "I cannot.",
            function_call: { name: "f", arguments: "{}" },
          },
        },
      ],
    };
    const events = wire(replayChatCompletion(rejected));
    expect(assembleStream("chat", events)).toMatchObject({
      choices: [{ message: { content: null, refusal: "I cannot." } }],
    });
    expect(JSON.stringify(events)).toContain('"delta":{"function_call":{"name":"f","arguments":"{}"}}');
    const few = JSON.stringify(wire(fewChatChunks(replayChatCompletion(rejected))));
    expect(few).not.toMatch(/refusal|function_call/);
  });

  it("assembles tool calls from several chunks", () => {
    const chunk = (delta: object): SseEvent => ({ event: null, data: { choices: [{ index: 0, delta }] } });
    const events = [
      chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "{" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
      { event: null, data: { error: { message: "boom" } } },
    ];
    expect(assembleStream("chat", events)).toMatchObject({
      choices: [
        { message: { content: null, tool_calls: [{ id: "t", function: { name: "f", arguments: "{}" } }] } },
      ],
    });
    expect(streamOutcome("chat", events)).toBe("error");
  });
});

describe("Messages stream", () => {
  it("assembles to the replayed message", () => {
    const [thinking, ...rest] = message.content;
    const signed = { ...message, content: [{ ...thinking, signature: "SIG" } as typeof thinking, ...rest] };
    const hidden = {
      ...signed,
      content: [...signed.content, { type: "redacted_thinking" as const, data: "ABC" }],
    } as typeof message;
    const events = wire(replayAnthropicMessage(hidden));
    expect(assembleStream("messages", events)).toEqual(hidden);
  });

  it("contains the events of the original, which has no signatures", () => {
    const events = wire(withoutSignatures(replayAnthropicMessage(message)));
    expect(types(events).slice(0, 4)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
    ]);
    const [thinking, ...rest] = message.content;
    expect(thinking).toMatchObject({ type: "thinking" });
    expect(assembleStream("messages", events)).toEqual({
      ...message,
      content: [{ type: "thinking", thinking: "t" }, ...rest],
    });
    expect(streamOutcome("messages", events)).toBe("complete");
  });

  it("keeps signatures and invalid tool input of real streams", () => {
    const frame = (type: string, fields: object): SseEvent => ({ event: type, data: { type, ...fields } });
    const events = [
      frame("message_start", { message: { id: "m", usage: { input_tokens: 3, output_tokens: 1 } } }),
      frame("content_block_start", {
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      }),
      frame("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "sig" } }),
      frame("content_block_start", {
        index: 1,
        content_block: { type: "tool_use", id: "u", name: "f", input: {} },
      }),
      frame("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json: "{bro" } }),
      frame("message_delta", { delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 9 } }),
    ];
    expect(assembleStream("messages", events)).toEqual({
      id: "m",
      type: "message",
      stop_reason: "max_tokens",
      usage: { input_tokens: 3, output_tokens: 9 },
      content: [
        { type: "thinking", thinking: "", signature: "sig" },
        { type: "tool_use", id: "u", name: "f", input: { _raw: "{bro" } },
      ],
    });
    expect(streamOutcome("messages", events)).toBeUndefined();
  });

  it("reports a failure", () => {
    expect(streamOutcome("messages", wire(replayAnthropicFailure("down")))).toBe("error");
  });
});

it("assembles a stream without an answer to null", () => {
  for (const dialect of ["responses", "chat", "messages"] satisfies Dialect[]) {
    expect(assembleStream(dialect, [{ event: null, data: "[DONE]" }])).toBeNull();
  }
});

describe("incomplete answers", () => {
  it("become chat chunks with nulls and only function calls", () => {
    const message = {
      tool_calls: [{ id: "c", type: "custom", custom: { name: "n", input: "x" } }, { function: {} }],
    };
    const whole = { choices: [{ message }, {}] } as unknown as ChatCompletion;
    const deltas = [...replayChatCompletion(whole)].map(({ data }) => data as JsonObject);
    expect(deltas[0]).toEqual({
      ...{ id: null, object: "chat.completion.chunk", created: null, model: null },
      choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }],
    });
    const call = { name: null, arguments: "" };
    expect(deltas[1]).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              { index: 0, id: "c", type: "custom", function: call },
              { index: 1, id: null, type: "function", function: call },
            ],
          },
        },
      ],
    });
  });

  it("become a Messages stream with empty texts, or fail", () => {
    const replay = (content: unknown[]) => [
      ...replayAnthropicMessage({ id: "m", content } as unknown as AnthropicMessage),
    ];
    const events = replay([{ type: "text" }, { type: "thinking" }, { type: "tool_use", id: "t", name: "f" }]);
    expect(events[0]?.data).toEqual({ type: "message_start", message: { id: "m", content: [], usage: {} } });
    expect(events.map(({ data }) => (data as JsonObject)["delta"]).filter(Boolean)).toEqual([
      { type: "text_delta", text: "" },
      { type: "thinking_delta", thinking: "" },
      { type: "input_json_delta", partial_json: "{}" },
      { stop_reason: null, stop_sequence: null },
    ]);
    expect(() => replay([{ type: "tool_use" }])).toThrow("needs an id");
    expect(() => replay([{ type: "odd" }])).toThrow("'odd' blocks");
  });
});
