import { readdir, readFile } from "node:fs/promises";
import { createTestServer, MockModelEndpoint, type MockModelOptions } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import { outboundChat } from "../../libraries/chat-requests/chat-requests.ts";
import definition from "./app.ts";
import { PROVIDERS, quirksOf, renamesDeveloper } from "./quirks.ts";

const open: MockModelEndpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

async function start(options: MockModelOptions = {}, config: Record<string, unknown> = {}) {
  const endpoint = await new MockModelEndpoint(options).start();
  open.push(endpoint);
  const server = await createTestServer(definition, {
    config: { base_url: endpoint.baseUrl, api_key: "k", model: "m", ...config },
  });
  return { endpoint, server };
}

const input = [
  { role: "developer", content: "Be brief." },
  { role: "user", content: "Hi" },
  { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "thought" }] },
  { role: "assistant", content: "Hello" },
  { role: "user", content: "And?" },
];

describe("inference_provider", () => {
  it("serves the Responses API from a chat endpoint", async () => {
    const { endpoint, server } = await start(
      { answer: () => ({ text: "Yes.", reasoning: "hm", toolCalls: [{ name: "f", arguments: {} }] }) },
      { extra_body: { top_k: 1, temperature: 0 } },
    );
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await server.post("/v1/responses", {
      input,
      temperature: 1,
      max_output_tokens: 7,
    });
    expect(status).toBe(200);
    expect(body.created_at).toBeGreaterThanOrEqual(before);
    expect(body.model).toBe("m");
    expect(body.output.map((item: { type: string }) => item.type)).toEqual(["message", "function_call"]);
    expect(endpoint.requests[0]?.body).toMatchObject({
      model: "m",
      top_k: 1,
      temperature: 1,
      max_tokens: 7,
      messages: [{ role: "system" }, { role: "user" }, { content: "<think>thought</think>Hello" }, {}],
    });
  });

  it("separates reasoning with uses_reasoning_parser", async () => {
    const { endpoint, server } = await start(
      { answer: () => ({ text: "Yes.", reasoning: "hm" }) },
      { uses_reasoning_parser: true, max_tokens_field: "max_completion_tokens" },
    );
    const { body } = await server.post("/v1/responses", { input, max_output_tokens: 7 });
    expect(body.output[0].summary[0].text).toBe("hm");
    expect(endpoint.requests[0]?.body).toMatchObject({
      max_completion_tokens: 7,
      messages: [{}, {}, { content: "Hello" }, {}],
    });
    expect(endpoint.requests[0]?.body).not.toHaveProperty("max_tokens");
  });

  it("sends developer messages as configured, and as system messages to unknown endpoints", async () => {
    const roleSent = async (config: Record<string, unknown>) => {
      const { endpoint, server } = await start({}, config);
      await server.post("/v1/responses", { input });
      const [first] = (endpoint.requests[0]?.body["messages"] ?? []) as { role: string }[];
      return first?.role;
    };
    expect(await roleSent({})).toBe("system");
    expect(await roleSent({ replace_developer_role_with_system: false })).toBe("developer");
    expect(await roleSent({ provider: "openrouter" })).toBe("developer");
    expect(await roleSent({ provider: "openrouter", replace_developer_role_with_system: true })).toBe(
      "system",
    );
    expect(renamesDeveloper(undefined, "https://api.openai.com/v1")).toBe(false);
    expect(renamesDeveloper(undefined, "http://localhost:11434/v1")).toBe(true);
  });

  it("forwards settings of the engine, with and without streaming", async () => {
    const { endpoint, server } = await start();
    const settings = { top_k: 5, min_p: 0.1, chat_template_kwargs: { a: 1 }, functions: [{ name: "f" }] };
    for (const stream of [false, true]) {
      const messages = [{ role: "user", content: "Hi" }];
      const { status } = await server.post("/v1/chat/completions", { messages, stream, ...settings });
      expect(status).toBe(200);
    }
    expect(endpoint.requests).toHaveLength(2);
    for (const { body } of endpoint.requests) {
      expect(body).toMatchObject({ model: "m", ...settings });
      expect(body["stream"]).not.toBe(true);
    }
  });

  it("reads reasoning objects, and ignores those without text", async () => {
    const answered = (reasoning: unknown) => ({
      id: "c",
      choices: [
        { index: 0, finish_reason: "stop", message: { role: "assistant", content: "Yes.", reasoning } },
      ],
    });
    for (const [reasoning, items] of [
      [{ text: "hm" }, ["reasoning", "message"]],
      [{ effort: 1 }, ["message"]],
    ] as const) {
      const { server } = await start(
        { faultFor: () => ({ kind: "status", status: 200, body: answered(reasoning) }) },
        { uses_reasoning_parser: true },
      );
      const { body } = await server.post("/v1/responses", { input: "hi" });
      expect(body.output.map(({ type }: { type: string }) => type)).toEqual(items);
      expect(JSON.stringify(body)).not.toContain("[object Object]");
    }
  });

  it("treats errors with status 200 as errors", async () => {
    const { server } = await start({
      answer: () => ({ text: "" }),
      faultFor: () => ({
        kind: "status",
        status: 200,
        body: { error: { code: 401, message: "No cookie auth credentials found" } },
      }),
    });
    const { status, body } = await server.post("/v1/responses", { input: "hi" });
    expect(status).toBe(401);
    expect(body.detail).toMatch(/^401 from .*: No cookie auth credentials found$/);
  });

  it("requires a base URL or a provider", async () => {
    await expect(createTestServer(definition, { config: { model: "m" } })).rejects.toThrow(
      "base_url and provider",
    );
    await createTestServer(definition, { config: { model: "m", provider: "together", api_key: "k" } });
  });
});

describe("quirks", () => {
  it("are selected by host or name", () => {
    expect(quirksOf(undefined, "https://openrouter.ai/api/v1")).toBe(PROVIDERS.openrouter);
    expect(quirksOf(undefined, "https://api.tokenfactory.nebius.com/v1/")).toBe(PROVIDERS.nebius);
    expect(quirksOf("gemini", "http://localhost:1/v1")).toBe(PROVIDERS.gemini);
    expect(quirksOf(undefined, "http://localhost:1/v1")).toBeUndefined();
    expect(quirksOf(undefined, "nonsense")).toBeUndefined();
  });

  it("leave out fields that a provider refuses, and log them", () => {
    const lost: string[] = [];
    const body = outboundChat(
      { messages: [{ role: "developer", content: "x" }], metadata: { a: "b" }, store: null, user: "u" },
      { model: "m", cutsReasoning: false, quirks: PROVIDERS.gemini, onLoss: ({ field }) => lost.push(field) },
    );
    expect(body).toEqual({ model: "m", messages: [{ role: "system", content: "x" }] });
    expect(lost).toEqual(["metadata", "user"]);
  });

  it("agree with the included configs", async () => {
    const folder = new URL("./configs/", import.meta.url);
    for (const file of await readdir(folder)) {
      const name = file.replace(".yaml", "");
      const text = await readFile(new URL(file, folder), "utf8");
      const url = /base_url: (\S+)/.exec(text)?.[1];
      expect(url).toBe(
        name in PROVIDERS ? PROVIDERS[name as keyof typeof PROVIDERS].baseUrl : "${policy_base_url}",
      );
    }
  });
});
