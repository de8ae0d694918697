import { AnthropicDouble, type AnthropicDoubleOptions, createTestServer, faults } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";

const KEY = "sk-ant-0123456789";
let double: AnthropicDouble;
afterEach(() => double?.close());

async function start(options: AnthropicDoubleOptions = {}, config: Record<string, unknown> = {}) {
  double = await new AnthropicDouble({ apiKey: KEY, ...options }).start();
  return createTestServer(definition, {
    config: {
      base_url: double.baseUrl,
      api_key: KEY,
      model: "claude-sonnet-4",
      retry_first_pause_seconds: 0.01,
      ...config,
    },
  });
}

const tools = [
  { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false },
];

describe("anthropic_model", () => {
  it("answers with reasoning, text and calls, and sends the results back", async () => {
    const server = await start({
      answer: ({ body }) =>
        (body["messages"] as unknown[]).length === 1
          ? { reasoning: "Look.", text: "One moment.", toolCalls: [{ name: "f", arguments: { a: 1 } }] }
          : { text: "Done." },
    });
    const first = await server.post("/v1/responses", { input: "hi", tools, instructions: "Be brief." });
    expect(first.status).toBe(200);
    const items = first.body.output;
    expect(items.map((item: { type: string }) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
    ]);
    expect(items[2].arguments).toBe('{"a": 1}');
    const result = { type: "function_call_output", call_id: items[2].call_id, output: "1" };
    const second = await server.post("/v1/responses", {
      input: [{ role: "user", content: "hi" }, ...items, result],
      tools,
    });
    expect(second.body.output[0].content[0].text).toBe("Done.");
    const sent = double.requests[1]?.body as {
      max_tokens: number;
      messages: { content: { type: string }[] }[];
    };
    expect(sent.max_tokens).toBe(8192);
    expect(sent.messages[1]?.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
  });

  it("keeps integers beyond 2^53 and whole floats in the arguments of calls, in both directions", async () => {
    const given = '{"station": 1234567890123456789, "height": 2.0}';
    const server = await start({
      answer: ({ body }) =>
        (body["messages"] as unknown[]).length === 1
          ? { toolCalls: [{ name: "f", arguments: given }] }
          : { text: "Done." },
    });
    const first = await server.post("/v1/responses", { input: "hi", tools });
    const [call] = first.body.output;
    expect(call.arguments).toBe(given);
    const result = { type: "function_call_output", call_id: call.call_id, output: "1" };
    const second = await server.post("/v1/responses", {
      input: [{ role: "user", content: "hi" }, call, result],
      tools,
    });
    expect(second.status).toBe(200);
    const sent = double.requests[1]?.body as { messages: { content: { input: { station: bigint } }[] }[] };
    expect(sent.messages[1]?.content[0]?.input.station).toBe(1234567890123456789n);
    const messages = await server.post("/v1/messages", {
      model: "m",
      max_tokens: 10,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(messages.status).toBe(200);
    expect(messages.text).toContain('{"station":1234567890123456789,"height":2.0}');
  });

  it("also serves Chat Completions and Messages, with and without streaming", async () => {
    const server = await start();
    const messages = [{ role: "user", content: "hi" }];
    const chat = await server.post("/v1/chat/completions", { messages });
    expect(chat.body.choices[0].message.content).toBe("Hello.");
    const message = await server.post("/v1/messages", { model: "m", max_tokens: 5, messages, stream: true });
    expect(message.text).toContain("event: message_stop");
    expect(double.requests[1]?.body["max_tokens"]).toBe(5);
  });

  it("refuses two settings for thinking", async () => {
    const budget = await start({}, { thinking_budget_tokens: 1024 });
    await budget.post("/v1/responses", { input: "hi" });
    expect(double.requests[0]?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 1024 });
    await double.close();
    const both = await start({}, { thinking_budget_tokens: 1024, thinking: { type: "adaptive" } });
    expect((await both.post("/v1/responses", { input: "hi" })).status).toBe(422);
  });

  it("retries if the provider is overloaded, and keeps the message of a refusal", async () => {
    const server = await start();
    double.fail({ kind: "status", status: 529, message: "Overloaded" }, faults.rateLimited(0));
    expect((await server.post("/v1/responses", { input: "hi" })).status).toBe(200);
    expect(double.count).toBe(3);
    await double.close();
    const refused = await (await start({ apiKey: "another-key-000" })).post("/v1/responses", { input: "hi" });
    expect(refused.body.detail).toMatch(/^401 from 127\.0\.0\.1:\d+: invalid x-api-key: \*\*\*\*$/);
  });

  it("keeps redacted thinking in a conversation, and does not retry an answer that it cannot convert", async () => {
    const server = await start();
    const content = [
      { type: "thinking", thinking: "hm", signature: "SIG" },
      { type: "redacted_thinking", data: "ABC" },
      { type: "text", text: "Yes." },
    ];
    const answer = { type: "message", role: "assistant", stop_reason: "end_turn", content };
    double.fail({ kind: "status", status: 200, body: answer });
    const { body } = await server.post("/v1/responses", { input: "hi" });
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual([
      "reasoning",
      "reasoning",
      "message",
    ]);
    const question = { role: "user", content: "And?" };
    await server.post("/v1/responses", { input: [question, ...body.output, question] });
    expect(double.requests[1]?.body["messages"]).toMatchObject([{}, { role: "assistant", content }, {}]);

    double.fail({ kind: "status", status: 200, body: { ...answer, content: [{ type: "server_tool_use" }] } });
    const refused = await server.post("/v1/responses", { input: "hi" });
    expect(refused.status).toBe(502);
    expect(refused.body.detail).toContain("'server_tool_use' blocks have no form");
    expect(refused.body.error).toMatchObject({ class: "invalid_response", retryable: false });
    expect(double.count).toBe(3);
  });

  it("counts the cost by the price list, with cached tokens separately", async () => {
    const server = await start(
      { answer: () => ({ text: "x", usage: { input: 1_000_000, output: 0 } }) },
      { prices: undefined },
    );
    const { body } = await server.post("/v1/responses", { input: "hi" });
    // Calls to the own machine are free unless prices are configured.
    expect(body.usage).not.toHaveProperty("ng_cost");
    await double.close();
    const priced = await start(
      { answer: () => ({ text: "x", usage: { input: 1_000_000, output: 0 } }) },
      { prices: { input: 3, output: 15 } },
    );
    expect((await priced.post("/v1/responses", { input: "hi" })).body.usage.ng_cost).toBe(3);
  });
});
