import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import {
  replayAnthropicFailure,
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  replayResponseFailure,
} from "./stream/replay.ts";
import { encodeSse, type SseEvent } from "./stream/sse.ts";

/** A fetch that answers every request with one replayed stream, so that the SDKs' own readers judge it. */
const answering = (events: Iterable<SseEvent>) => async () =>
  new Response([...events].map(encodeSse).join(""), { headers: { "content-type": "text/event-stream" } });

const openai = (events: Iterable<SseEvent>) =>
  new OpenAI({ apiKey: "any", baseURL: "http://gym.invalid/v1", maxRetries: 0, fetch: answering(events) });
const anthropic = (events: Iterable<SseEvent>) =>
  new Anthropic({ apiKey: "any", baseURL: "http://gym.invalid", maxRetries: 0, fetch: answering(events) });

const call = { id: "t", type: "function" as const, function: { name: "f", arguments: '{"a": 1}' } };

describe("the openai SDK", () => {
  it("reads a replayed chat completion", async () => {
    const events = replayChatCompletion(
      {
        id: "c",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: { role: "assistant", content: "hi — é", tool_calls: [call] },
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      },
      { includeUsage: true },
    );
    const stream = openai(events).chat.completions.stream({
      model: "m",
      messages: [{ role: "user", content: "q" }],
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({ content: "hi — é", tool_calls: [call] });
    expect(completion.usage?.total_tokens).toBe(3);
  });

  it("reads a replayed response and a failure", async () => {
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "hi", annotations: [] }],
    };
    const whole = { id: "resp_1", object: "response", status: "completed", output: [message] };
    const seen: string[] = [];
    const stream = await openai(replayResponse(whole)).responses.create({
      model: "m",
      input: "q",
      stream: true,
    });
    for await (const event of stream) {
      seen.push(event.type);
      if (event.type === "response.completed") expect(event.response.output).toEqual([message]);
    }
    expect(seen[0]).toBe("response.created");
    expect(seen.slice(-2)).toEqual(["response.output_item.done", "response.completed"]);

    const failing = await openai(replayResponseFailure("down")).responses.create({
      model: "m",
      input: "q",
      stream: true,
    });
    for await (const event of failing) {
      if (event.type === "response.failed") expect(event.response.error?.message).toBe("down");
    }
  });
});

it("a replayed response has numbers in its usage even if a backend reports no details", () => {
  const usage = {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: null },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: null },
    total_tokens: 5,
  };
  const events = [...replayResponse({ id: "resp_1", object: "response", output: [], usage })];
  const completed = events.at(-1)?.data as { response: { usage: object } } | undefined;
  expect(completed?.response.usage).toEqual({
    ...usage,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  });
});

describe("the openai SDK's stream helper", () => {
  const output = [
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "First." },
        { type: "summary_text", text: "Then." },
      ],
      encrypted_content: "ENC",
    },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [
        { type: "output_text", text: "hi — é", annotations: [], logprobs: null },
        { type: "refusal", refusal: "No more." },
      ],
    },
    { type: "message", id: "msg_2", role: "assistant", status: "completed", content: [] },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "f",
      arguments: '{"a": 1}',
      status: "completed",
    },
  ];
  const whole = { id: "resp_1", object: "response", status: "completed", output };

  it("ends with the response that was replayed", async () => {
    const stream = openai(replayResponse(whole)).responses.stream({ model: "m", input: "q" });
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ id: "resp_1", status: "completed", output_text: "hi — é" });
    expect(final.output).toMatchObject(output);
  });

  it("builds the same response from the deltas", async () => {
    const collected = { text: "", refusal: "", thought: "", arguments: "" };
    const stream = openai(replayResponse(whole)).responses.stream({ model: "m", input: "q" });
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") collected.text += event.delta;
      if (event.type === "response.refusal.delta") collected.refusal += event.delta;
      if (event.type === "response.reasoning_summary_text.delta") collected.thought += event.delta;
      if (event.type === "response.function_call_arguments.delta") collected.arguments += event.delta;
    }
    expect(collected).toEqual({
      text: "hi — é",
      refusal: "No more.",
      thought: "First.Then.",
      arguments: '{"a": 1}',
    });
  });
});

describe("the Anthropic SDK", () => {
  const request = { model: "m", max_tokens: 5, messages: [{ role: "user" as const, content: "q" }] };

  it("reads a replayed message", async () => {
    const events = replayAnthropicMessage({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: "t", signature: "SIG" },
        { type: "redacted_thinking", data: "ABC" },
        { type: "text", text: "hi" },
        { type: "tool_use", id: "u", name: "f", input: { a: 1 } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 2 },
    });
    const message = await anthropic(events).messages.stream(request).finalMessage();
    expect(message).toMatchObject({
      stop_reason: "tool_use",
      content: [
        { thinking: "t", signature: "SIG" },
        { type: "redacted_thinking", data: "ABC" },
        { text: "hi" },
        { name: "f", input: { a: 1 } },
      ],
      usage: { input_tokens: 1, output_tokens: 2 },
    });
  });

  it("receives a failure", async () => {
    const stream = anthropic(replayAnthropicFailure("down")).messages.stream(request);
    await expect(stream.finalMessage()).rejects.toThrow("down");
  });
});
