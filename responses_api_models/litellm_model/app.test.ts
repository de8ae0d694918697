import { createTestServer, MockModelEndpoint, type MockModelOptions } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";
import { normalizeResponse } from "./normalize-response.ts";
import { versionProblem } from "./proxy-version.ts";

const COMPLETION = {
  id: "c",
  object: "chat.completion",
  created: 5,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello." } }],
};

let endpoint: MockModelEndpoint;
afterEach(() => endpoint?.close());

async function start(version: unknown, options: MockModelOptions = {}, config: Record<string, unknown> = {}) {
  endpoint = await new MockModelEndpoint({
    other: ({ path }) =>
      path === "/health/readiness/details"
        ? { body: { status: "healthy", litellm_version: version } }
        : undefined,
    ...options,
  }).start();
  return createTestServer(definition, {
    config: {
      openai_base_url: endpoint.baseUrl,
      openai_api_key: "Bearer litellm-key-1",
      openai_model: "m",
      retry_attempts: 2,
      retry_first_pause_seconds: 0.01,
      ...config,
    },
  });
}

describe("litellm_model", () => {
  it("refuses to start with an unsafe proxy", async () => {
    await start("1.83.0");
    expect(endpoint.requests[0]?.headers).toMatchObject({
      authorization: "Bearer litellm-key-1",
      "x-litellm-key": "litellm-key-1",
    });
    await endpoint.close();
    await expect(start("1.82.8")).rejects.toThrow("steals credentials");
    await endpoint.close();
    await expect(start(undefined)).rejects.toThrow("does not tell its version");
    await endpoint.close();
    await expect(
      start("1.83.0", { other: () => ({ status: 403, body: { error: "no litellm-key-1" } }) }),
    ).rejects.toSatisfy(
      (error: Error) => /403/.test(error.message) && !error.message.includes("litellm-key"),
    );
  });

  it.each([
    ["1.83.0", true],
    ["v1.83.1-stable", true],
    ["1.84.0.post1", true],
    ["2.0.0", true],
    ["1.90.2-stable.patch.3", true],
    ["1.82.9", false],
    ["1.82.7", false],
    ["0.99.99", false],
    ["1.83.0-nightly", false],
    ["latest", false],
  ])("classifies version %s", (version, safe) => {
    expect(versionProblem(version) === undefined).toBe(safe);
  });

  it("forwards calls and reads the cost from the header", async () => {
    const server = await start("1.83.0");
    const { status, body } = await server.post("/v1/responses", { input: "hi" });
    expect([status, body.output[0].content[0].text]).toEqual([200, "Hello."]);
    const chat = await server.post("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] });
    expect(chat.body.choices[0].message.content).toBe("Hello.");
    endpoint.fail({
      kind: "status",
      status: 200,
      headers: { "x-litellm-response-cost": "0.25" },
      body: COMPLETION,
    });
    const priced = await server.post("/v1/responses", { input: "hi" });
    expect(priced.body.usage.ng_cost).toBe(0.25);
  });

  it("omits reasoning with drop_input_reasoning_items", async () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [] },
    ];
    for (const drop_input_reasoning_items of [true, false]) {
      const server = await start("1.83.0", {}, { drop_input_reasoning_items });
      await server.post("/v1/responses", { input });
      expect(endpoint.requests.at(-1)?.body["input"]).toHaveLength(drop_input_reasoning_items ? 1 : 2);
      await endpoint.close();
    }
  });

  it("reports at once that no proxy answers", async () => {
    const config = { openai_base_url: "http://127.0.0.1:1/v1", openai_api_key: "k", openai_model: "m" };
    await expect(createTestServer(definition, { config })).rejects.toThrow(
      /cannot be found out: no connection to 127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
  });
});

describe("normalizeResponse", () => {
  it("corrects the effort and changes nothing else", () => {
    expect(normalizeResponse({ object: "response", reasoning: { effort: "none", summary: null } })).toEqual({
      object: "response",
      reasoning: { effort: null, summary: null },
    });
    expect(normalizeResponse("x")).toBe("x");
  });

  it("converts a chat completion to a response", () => {
    const response = normalizeResponse({
      id: "c",
      object: "chat.completion",
      created: 5,
      model: "m",
      choices: [
        {
          message: {
            content: "<think>a</think>b",
            tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }],
          },
        },
      ],
    });
    expect(response).toMatchObject({
      id: "c",
      object: "response",
      created_at: 5,
      parallel_tool_calls: false,
      output: [
        { type: "message", content: [{ text: "<think>a</think>b" }] },
        { type: "function_call", call_id: "t" },
      ],
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    });
  });

  it("reads both forms of usage, and treats a missing choice as an empty message", () => {
    const completion = { id: "c", object: "chat.completion", created: 5, model: "m", choices: [] };
    const usage = {
      input_tokens: 3,
      completion_tokens: 2,
      completion_tokens_details: { reasoning_tokens: 1 },
    };
    expect(normalizeResponse({ ...completion, usage })).toMatchObject({
      output: [{ type: "message", content: [{ type: "output_text", text: "" }] }],
      usage: {
        input_tokens: 3,
        output_tokens: 2,
        total_tokens: 5,
        input_tokens_details: { cached_tokens: null },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });
});
