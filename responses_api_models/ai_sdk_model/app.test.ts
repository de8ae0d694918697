import {
  AnthropicDouble,
  createTestServer,
  faults,
  MockModelEndpoint,
  type MockModelOptions,
} from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";

const KEY = "ai-sdk-key-0123456789";
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const directory = import.meta.dirname;

async function compatible(options: MockModelOptions = {}, config: Record<string, unknown> = {}) {
  const endpoint = await new MockModelEndpoint({ apiKey: KEY, ...options }).start();
  open.push(endpoint);
  const server = await createTestServer(definition, {
    directory,
    config: {
      package: "@ai-sdk/openai-compatible",
      factory: "createOpenAICompatible",
      factory_options: { name: "mock" },
      api_key: KEY,
      base_url: endpoint.baseUrl,
      model: "m",
      retry_first_pause_seconds: 0.01,
      ...config,
    },
  });
  return { endpoint, server };
}

const tools = [
  {
    type: "function",
    name: "find_ferry",
    description: "Looks a ferry up.",
    parameters: { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] },
    strict: true,
  },
];

describe("ai_sdk_model", () => {
  it("refuses settings that the SDK does not have for every provider", async () => {
    const { endpoint, server } = await compatible();
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true };
    for (const setting of [{ text: { format } }, { previous_response_id: "r" }, { top_logprobs: 3 }]) {
      const { status, text } = await server.post("/v1/responses", { input: "Hi", ...setting });
      expect([status, text]).toEqual([422, expect.stringContaining("have no form in the AI SDK")]);
    }
    expect(endpoint.requests).toEqual([]);
  });

  it("calls a provider of the SDK, with tools and images", async () => {
    const { endpoint, server } = await compatible({
      answer: () => ({
        reasoning: "Look it up.",
        text: "One moment.",
        toolCalls: [{ id: "call_1", name: "find_ferry", arguments: { harbour: "Oban" } }],
        usage: { input: 12, output: 7, cached: 4, reasoning: 3 },
      }),
    });
    const { status, body } = await server.post("/v1/responses", {
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "When?" },
            { type: "input_image", image_url: "data:image/png;base64,aGVsbG8=" },
          ],
        },
      ],
      tools,
      tool_choice: "required",
      temperature: 0.5,
      max_output_tokens: 50,
    });
    expect(status).toBe(200);
    expect(body.output.map((item: { type: string }) => item.type)).toEqual(
      expect.arrayContaining(["reasoning", "message", "function_call"]),
    );
    const call = body.output.find((item: { type: string }) => item.type === "function_call");
    expect(call).toMatchObject({ call_id: "call_1", name: "find_ferry", arguments: '{"harbour":"Oban"}' });
    expect(body.usage).toMatchObject({
      input_tokens: 12,
      output_tokens: 7,
      input_tokens_details: { cached_tokens: 4 },
    });
    const sent = endpoint.requests[0]?.body;
    expect(sent).toMatchObject({
      model: "m",
      temperature: 0.5,
      max_tokens: 50,
      tool_choice: "required",
      messages: [{ role: "system", content: "Be brief." }, { role: "user" }],
      tools: [{ function: { name: "find_ferry", description: "Looks a ferry up." } }],
    });

    const result = { type: "function_call_output", call_id: "call_1", output: "Noon." };
    const history = [{ role: "user", content: "When?" }, ...body.output, result];
    expect((await server.post("/v1/responses", { input: history, tools })).status).toBe(200);
    expect(endpoint.requests[1]?.body["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "find_ferry" } }] },
      { role: "tool", tool_call_id: "call_1", content: "Noon." },
    ]);
  });

  it("sends reasoning back with the signature of the provider", async () => {
    const double = await new AnthropicDouble({
      apiKey: KEY,
      answer: ({ body }) =>
        (body["messages"] as unknown[]).length === 1
          ? {
              reasoning: "Hm.",
              toolCalls: [{ id: "toolu_1", name: "find_ferry", arguments: { harbour: "Oban" } }],
            }
          : { text: "Noon." },
    }).start();
    open.push(double);
    const server = await createTestServer(definition, {
      directory,
      config: {
        package: "@ai-sdk/anthropic",
        factory: "createAnthropic",
        api_key: KEY,
        base_url: `${double.origin}/v1`,
        model: "claude-sonnet-4-5",
        provider_options: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
      },
    });
    const first = await server.post("/v1/responses", { input: "When?", tools });
    expect(first.status).toBe(200);
    const result = { type: "function_call_output", call_id: "toolu_1", output: "Noon." };
    const input = [{ role: "user", content: "When?" }, ...first.body.output, result];
    const second = await server.post("/v1/responses", { input, tools });
    expect(second.body.output[0].content[0].text).toBe("Noon.");
    const sent = (double.requests[1]?.body["messages"] ?? []) as { content: unknown[] }[];
    const [thinking] = sent[1]?.content ?? [];
    expect(thinking).toMatchObject({
      type: "thinking",
      thinking: "Hm.",
      signature: expect.stringMatching(/^sig-/),
    });
  });

  it("uses the retries of the gym, keeps the provider's message, and masks the key", async () => {
    const { endpoint, server } = await compatible();
    endpoint.fail(faults.rateLimited(0), faults.serverError(), faults.hangUp());
    expect((await server.post("/v1/responses", { input: "hi" })).status).toBe(200);
    expect(endpoint.count).toBe(4);
    const refused = await (await compatible({ apiKey: "another-key-000000" })).server.post("/v1/responses", {
      input: "hi",
    });
    expect(refused.status).toBe(401);
    expect(refused.body.error).toMatchObject({ class: "provider_auth", stage: "model", retryable: false });
    expect(refused.body.detail).toMatch(/^401 from 127.*: Incorrect API key provided: Bearer \*\*\*\*\.$/);
    const dead = await compatible({}, { retry_attempts: 2 });
    await dead.endpoint.close();
    const gone = await dead.server.post("/v1/responses", { input: "hi" });
    expect([gone.status, gone.body.error.class]).toEqual([502, "connection"]);
  });

  it("counts the cost", async () => {
    const { server } = await compatible({}, { prices: { input: 1_000, output: 0 } });
    const { body } = await server.post("/v1/responses", { input: "hi" });
    expect(body.usage.ng_cost).toBeCloseTo(0.01);
  });

  it("reports missing settings before it starts", async () => {
    const config = { package: "@ai-sdk/unheard-of", model: "m" };
    await expect(createTestServer(definition, { directory, config })).rejects.toThrow(
      "npm install @ai-sdk/unheard-of",
    );
    await expect(compatible({}, { factory: "createNothing" })).rejects.toThrow("createOpenAICompatible");
    await expect(compatible({}, { model_method: "sing" })).rejects.toThrow("no method 'sing'");
  });
});
