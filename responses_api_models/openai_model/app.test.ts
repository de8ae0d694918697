import { createTestServer, faults, MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";

const KEY = "sk-test-0123456789abcdef";
const open: MockModelEndpoint[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

async function start(
  options: ConstructorParameters<typeof MockModelEndpoint>[0] = {},
  config: Record<string, unknown> = {},
) {
  const endpoint = await new MockModelEndpoint({ apiKey: KEY, ...options }).start();
  open.push(endpoint);
  const server = await createTestServer(definition, {
    config: {
      openai_base_url: endpoint.baseUrl,
      openai_api_key: KEY,
      openai_model: "gpt-4.1",
      retry_first_pause_seconds: 0.01,
      ...config,
    },
  });
  return { endpoint, server };
}

describe("openai_model", () => {
  it("forwards requests with the configured model", async () => {
    const { endpoint, server } = await start({}, { extra_body: { temperature: 0.1, store: false } });
    const reply = await server.post("/v1/responses", { model: "anything", input: "hi", temperature: 0.9 });
    expect(reply.status).toBe(200);
    expect(reply.body.output[0].content[0].text).toBe("Hello.");
    expect(reply.body.incomplete_details).toBeNull();
    expect(endpoint.requests[0]).toMatchObject({
      path: "/v1/responses",
      body: { model: "gpt-4.1", input: "hi", temperature: 0.9, store: false },
    });
    const chat = await server.post("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] });
    expect(chat.body.choices[0].message.content).toBe("Hello.");
    expect(endpoint.requests[1]?.path).toBe("/v1/chat/completions");
    const message = await server.post("/v1/messages", {
      model: "claude-x",
      max_tokens: 10,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(message.body).toMatchObject({ model: "claude-x", content: [{ type: "text", text: "Hello." }] });
  });

  it("sends its headers with its own key, and removes unknown fields of items", async () => {
    const answer = {
      ...{ id: "r", object: "response", created_at: 1, model: "told", parallel_tool_calls: true },
      ...{ tool_choice: "auto", tools: [], extra: "kept" },
      output: [{ type: "function_call", call_id: "c", name: "f", arguments: "{}", oddity: 1 }],
    };
    const openai_default_headers = { Authorization: "Bearer other", "X-Team": "red" };
    const { endpoint, server } = await start({}, { openai_default_headers });
    endpoint.fail({ kind: "status", status: 200, body: answer });
    const { body } = await server.post("/v1/responses", { input: "hi" });
    expect(endpoint.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-team": "red" });
    expect(body).toMatchObject({ model: "told", extra: "kept", output: [{ name: "f" }] });
    expect(body.output[0]).not.toHaveProperty("oddity");
  });

  it("does not forward token lists of chat messages", async () => {
    const { endpoint, server } = await start();
    const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-0.5] };
    await server.post("/v1/chat/completions", {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "Hello.", ...tokens },
        { role: "user", content: "and?" },
      ],
    });
    expect(endpoint.requests[0]?.body["messages"]).toMatchObject([{}, { content: "Hello." }, {}]);
    expect(JSON.stringify(endpoint.requests[0]?.body)).not.toMatch(/token_ids|log_probs/);
  });

  it("accepts the older key for the model", async () => {
    const { endpoint, server } = await start({}, { openai_model: undefined, openai_model_name: "gpt-old" });
    await server.post("/v1/responses", { input: "hi" });
    expect(endpoint.requests[0]?.body["model"]).toBe("gpt-old");
  });

  it("omits reasoning with drop_input_reasoning_items, and always omits token lists", async () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [] },
      {
        type: "function_call",
        call_id: "c",
        name: "f",
        arguments: "{}",
        prompt_token_ids: [1],
        generation_token_ids: [2],
        generation_log_probs: [-0.5],
      },
      { type: "function_call_output", call_id: "c", output: "1" },
    ];
    const { endpoint, server } = await start({}, { drop_input_reasoning_items: "true" });
    await server.post("/v1/responses", { input });
    const sent = endpoint.requests[0]?.body["input"] as Record<string, unknown>[];
    expect(sent.map((item) => item["type"] ?? "message")).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
    expect(sent[1]).not.toHaveProperty("prompt_token_ids");
  });

  it("keeps the provider's status and message, and never shows the key", async () => {
    const { server } = await start({ apiKey: "sk-another-key-altogether" });
    const reply = await server.post("/v1/responses", { input: "hi" });
    expect(reply.status).toBe(401);
    expect(reply.body.error).toMatchObject({
      class: "provider_auth",
      stage: "model",
      retryable: false,
      type: "authentication_error",
    });
    expect(reply.body.detail).toMatch(
      /^401 from 127\.0\.0\.1:\d+: Incorrect API key provided: Bearer \*\*\*\*\.$/,
    );
    expect(reply.text).not.toContain(KEY);
  });

  it("retries temporary failures within one budget", async () => {
    const { endpoint, server } = await start();
    endpoint.fail(faults.rateLimited(0), faults.serverError(503), faults.garbage(), faults.hangUp());
    const reply = await server.post("/v1/responses", { input: "hi" });
    expect(reply.status).toBe(200);
    expect(endpoint.count).toBe(5);
    // A reused connection that closes is not a failed attempt.
    expect(reply.body.usage.ng_retries).toBe(3);
    expect((await server.post("/v1/responses", { input: "hi" })).body.usage).not.toHaveProperty("ng_retries");
  });

  it("does not retry permanent failures", async () => {
    const { endpoint, server } = await start();
    endpoint.fail({ kind: "status", status: 400, message: "Unsupported parameter." });
    const reply = await server.post("/v1/responses", { input: "hi" });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({ class: "provider_error", retryable: false });
    expect(endpoint.count).toBe(1);
  });

  it("fails with the cause when the budget is used up", async () => {
    const { endpoint, server } = await start({ faultFor: () => faults.serverError() }, { retry_attempts: 3 });
    const reply = await server.post("/v1/responses", { input: "hi" });
    expect(reply.status).toBe(500);
    expect(reply.body.detail).toMatch(
      /^500 from 127.*: The server had an error\. \(gave up after 3 attempts in /,
    );
    expect(reply.body.error).toMatchObject({ class: "provider_error", retryable: true });
    expect(endpoint.count).toBe(3);
  });

  it("counts the cost of calls and stops at max_cost", async () => {
    const prices = { input: 1_000, output: 2_000 };
    const { server, endpoint } = await start({}, { prices, max_cost: 0.03 });
    const reply = await server.post("/v1/responses", { input: "hi" });
    expect(reply.body.usage).toMatchObject({ input_tokens: 10, output_tokens: 5, ng_cost: 0.02 });
    expect((await server.post("/v1/responses", { input: "hi" })).status).toBe(200);
    const refused = await server.post("/v1/responses", { input: "hi" });
    expect(refused.status).toBe(402);
    expect(refused.body.error).toMatchObject({ class: "budget_exhausted", retryable: false });
    expect(endpoint.count).toBe(2);
  });
});
