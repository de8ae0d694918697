import { createTestServer } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const tools = [
  {
    type: "function",
    name: "book",
    strict: true,
    parameters: {
      type: "object",
      properties: {
        room: { type: "string", enum: ["red", "blue"] },
        nights: { type: "integer", minimum: 1, maximum: 3 },
      },
      required: ["room", "nights"],
      additionalProperties: false,
    },
  },
];

async function ask(config: object, body: object) {
  const server = await createTestServer(definition, { config: { ...config } });
  const reply = await server.post("/v1/responses", body);
  await server.close();
  return reply;
}

describe("random_model", () => {
  it("always gives the same answer to the same request, and a different one with another seed", async () => {
    const body = { input: "Book a room.", tools };
    const [first, again, other] = await Promise.all([ask({}, body), ask({}, body), ask({ seed: 7 }, body)]);
    expect(again.text).toBe(first.text);
    expect(other.text).not.toBe(first.text);
  });

  it("generates calls that match their schema", async () => {
    for (let seed = 0; seed < 30; seed++) {
      const { body } = await ask({ seed, tool_call_rate: 1 }, { input: "Book.", tools });
      const [call] = body.output;
      expect(call).toMatchObject({ type: "function_call", name: "book" });
      const { room, nights } = JSON.parse(call.arguments);
      expect(["red", "blue"]).toContain(room);
      expect([1, 2, 3]).toContain(nights);
    }
  });

  it("stops calling tools after max_tool_turns, and never calls them with tool_choice none", async () => {
    const call = { type: "function_call", call_id: "c", name: "book", arguments: "{}" };
    const input = [
      { role: "user", content: "Book." },
      call,
      { type: "function_call_output", call_id: "c", output: "ok" },
    ];
    const done = await ask({ tool_call_rate: 1, max_tool_turns: 1 }, { input, tools });
    expect(done.body.output[0].type).toBe("message");
    const none = await ask({ tool_call_rate: 1 }, { input: "Book.", tools, tool_choice: "none" });
    expect(none.body.output[0].type).toBe("message");
  });

  it("answers in the requested format", async () => {
    const format = {
      type: "json_schema",
      name: "colour",
      schema: { type: "object", properties: { colour: { const: "green" } }, required: ["colour"] },
    };
    const { body } = await ask({}, { input: "Which?", text: { format } });
    expect(JSON.parse(body.output[0].content[0].text)).toEqual({ colour: "green" });
  });

  it("creates invalid calls and failures at the configured rates", async () => {
    const failed = await ask({ failure_rate: 1 }, { input: "x" });
    expect(failed.body.error).toMatchObject({ class: "provider_error", stage: "model", retryable: true });
    const broken = await ask({ tool_call_rate: 1, invalid_call_rate: 1 }, { input: "Book.", tools });
    const [call] = broken.body.output;
    const fits = call.name === "book" && /^{"room":"(red|blue)","nights":[123]}$/.test(call.arguments);
    expect(fits).toBe(false);
  });

  it("serves the other dialects by conversion", async () => {
    const server = await createTestServer(definition, { config: { tool_call_rate: 0 } });
    const chat = await server.post("/v1/chat/completions", {
      messages: [{ role: "user", content: "Hi" }],
      model: "x",
    });
    expect(chat.body).toMatchObject({ object: "chat.completion", choices: [{ finish_reason: "stop" }] });
    const message = await server.post("/v1/messages", {
      model: "x",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(message.body).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn" });
    const streamed = await server.post("/v1/responses", { input: "Hi", stream: true });
    expect(streamed.text).toMatch(/^event: response.created\n[\s\S]*event: response.completed\n/);
    await server.close();
  });

  it.each([{ tool_call_rate: 2 }, { seed: "x" }])("refuses the config %j", async (config) => {
    await expect(createTestServer(definition, { config })).rejects.toThrow(/does not fit its schema/);
  });
});
