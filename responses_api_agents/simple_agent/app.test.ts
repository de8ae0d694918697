import { createTestServer, functionCallItem, messageItem } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const config = {
  resources_server: { type: "resources_servers", name: "tools" },
  model_server: { type: "responses_api_models", name: "model" },
};

const usage = (input: number, cached: number | null = null) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: null },
  total_tokens: input + 1,
});

const answer = (output: unknown[], extra: object = {}) => ({
  id: `resp_${Math.random()}`,
  created_at: 1,
  model: "m",
  object: "response",
  output,
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  ...extra,
});

/** Runs the agent against a model that says what the script says and tools that record their calls. */
async function run(script: object[], options: { config?: object; tool?: (path: string) => unknown } = {}) {
  const asked: { input: unknown[] }[] = [];
  const calls: [string, unknown][] = [];
  const server = await createTestServer(definition, {
    config: { ...config, ...options.config },
    servers: {
      model: (_path, body) => {
        asked.push(body as { input: unknown[] });
        return script[asked.length - 1];
      },
      tools: (path, body) => {
        if (path === "/seed_session") return {};
        if (path === "/verify") return { ...(body as object), reward: 0.5 };
        calls.push([path, body]);
        return options.tool?.(path) ?? { ok: path };
      },
    },
  });
  const reply = await server.post("/run", { responses_create_params: { input: "Hello." }, extra: 1 });
  await server.close();
  return { reply, asked, calls, response: reply.body.response };
}

describe("the loop", () => {
  it("runs calls in order, sends everything back and stops at a message", async () => {
    const first = [functionCallItem("a", { x: 1 }, "c1"), functionCallItem("b", {}, "c2")];
    const { reply, asked, calls, response } = await run([
      answer(first, { usage: usage(10, 4) }),
      answer([messageItem("done")], { usage: usage(20) }),
    ]);
    expect(calls).toEqual([
      ["/a", { x: 1 }],
      ["/b", {}],
    ]);
    expect(asked[1]?.input).toHaveLength(5);
    expect(response.output.map((item: { type: string }) => item.type)).toEqual([
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "message",
    ]);
    expect(response.output[2].output).toBe('{"ok":"/a"}');
    expect(response.usage).toMatchObject({
      input_tokens: 30,
      output_tokens: 2,
      input_tokens_details: { cached_tokens: null },
    });
    expect(reply.body).toMatchObject({ reward: 0.5, extra: 1 });
  });

  it("goes round again after reasoning alone", async () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] };
    const { asked } = await run([answer([thought]), answer([messageItem("so")])]);
    expect(asked).toHaveLength(2);
  });

  it("does not run the calls of a truncated turn", async () => {
    const cut = answer([functionCallItem("a")], {
      incomplete_details: { reason: "max_output_tokens" },
      status: "incomplete",
    });
    const { calls, response } = await run([cut]);
    expect(calls).toEqual([]);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  it("stops after max_steps, with that step's tools run", async () => {
    const always = Array.from({ length: 5 }, () => answer([functionCallItem("a")]));
    const { asked, calls } = await run(always, { config: { max_steps: 2 } });
    expect([asked.length, calls.length]).toEqual([2, 2]);
  });

  it("answers arguments that are no JSON itself", async () => {
    const { calls, response } = await run([
      answer([functionCallItem("a", "{")]),
      answer([messageItem("oh")]),
    ]);
    expect(calls).toEqual([]);
    expect(JSON.parse(response.output[1].output).error).toMatch(/^Invalid tool call arguments: SyntaxError/);
  });

  it("gives the model whatever a tool answers, errors too", async () => {
    const { response } = await run([answer([functionCallItem("a")]), answer([messageItem("oh")])], {
      tool: () => ({ status: 422, body: { detail: "no such city" } }),
    });
    expect(response.output[1].output).toBe('{"detail":"no such city"}');
  });
});

describe("failures", () => {
  it("keep the provider's status and message", async () => {
    const message = "401 from api.example.com: bad key";
    const failure = { class: "provider_auth", stage: "model", retryable: false, message };
    const { reply } = await run([{ status: 401, body: { detail: message, error: failure } }]);
    expect(reply).toMatchObject({ status: 401, body: { detail: message, error: failure } });
  });

  it("quote an answer that is no Response", async () => {
    const { reply } = await run([{ hello: "world" }]);
    expect(reply.status).toBe(502);
    expect(reply.body.error).toMatchObject({ class: "invalid_response", stage: "model", retryable: true });
    expect(reply.body.detail).toContain('{"hello":"world"}');
  });
});

it("skips verification when told to", async () => {
  const { reply } = await run([answer([messageItem("x")])], {
    config: { skip_verification: true, skip_verification_reward: 0.25 },
  });
  expect(reply.body).toMatchObject({ reward: 0.25, verification_skipped: true, extra: 1 });
});

it("refuses a row without create params with the field", async () => {
  const server = await createTestServer(definition, { config });
  const reply = await server.post("/run", { responses_create_params: { input: "x", nonsense: 1 } });
  expect(reply.status).toBe(422);
  expect(reply.body.detail[0].loc).toEqual(["body", "responses_create_params", "nonsense"]);
  await server.close();
});
