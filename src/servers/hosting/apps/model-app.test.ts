import { describe, expect, it } from "vitest";
import { z } from "zod";
import { HttpError } from "../../../base/server-errors.ts";
import type { ChatCompletion } from "../../../wire/schemas/chat-types.ts";
import type { Response, ResponseCreateParams } from "../../../wire/schemas/responses.ts";
import { defineModel } from "../../definitions/define-model.ts";
import { createTestServer } from "../test-server.ts";

const completion = (message: object, rest: object = {}): ChatCompletion =>
  ({
    id: "c1",
    object: "chat.completion",
    created: 7,
    model: "backend",
    choices: [{ index: 3, finish_reason: "stop", message: { role: "assistant", content: null, ...message } }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    ...rest,
  }) as unknown as ChatCompletion;

const call = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1}' } };

/** A server whose chat backend returns the given answer, or throws it. */
async function chatServer(answer: ChatCompletion | Error) {
  const asked: unknown[] = [];
  const server = await createTestServer(
    defineModel({
      config: z.looseObject({}),
      modelName: () => "configured",
      chat: async ({ params }) => {
        asked.push(params);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    }),
    {},
  );
  return { server, asked };
}

/** The frames of a stream: event name, if it has one, and data. */
function frames(text: string): { event: string | undefined; data: string }[] {
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1],
      data: /^data: (.*)$/m.exec(frame)?.[1] ?? "",
    }));
}

const question = [{ role: "user", content: "Two?" }];

it("lists its model and estimates tokens", async () => {
  const { server } = await chatServer(completion({ content: "2" }));
  expect(await server.get("/v1/models")).toMatchObject({
    status: 200,
    body: { object: "list", data: [{ id: "configured", object: "model" }] },
  });
  const ask = (text: string) =>
    server.post("/v1/messages/count_tokens", {
      model: "m",
      system: "Be brief.",
      messages: [{ role: "user", content: text }],
    });
  const short = await ask("One plus one?");
  expect(short.status).toBe(200);
  const count = (reply: { body: unknown }) => (reply.body as { input_tokens: number }).input_tokens;
  expect(count(short)).toBeGreaterThan(5);
  expect(count(await ask("One plus one? ".repeat(20)))).toBeGreaterThan(count(short) + 60);
});

it("passes the format of a chat request to a Responses backend", async () => {
  const asked: ResponseCreateParams[] = [];
  const definition = defineModel({
    config: z.looseObject({}),
    responses: async ({ params }) => {
      asked.push(params);
      throw new HttpError(500, "enough");
    },
  });
  const server = await createTestServer(definition, {});
  const json_schema = { name: "n", schema: { type: "object" }, strict: true };
  const messages = [{ role: "user", content: "?" }];
  await server.post("/v1/chat/completions", {
    messages,
    response_format: { type: "json_schema", json_schema },
  });
  expect(asked[0]?.text).toMatchObject({ format: { type: "json_schema", ...json_schema } });
});

describe("settings that the backend does not have", () => {
  const textServer = async (text: string) => {
    const asked: ResponseCreateParams[] = [];
    const definition = defineModel({
      config: z.looseObject({}),
      responses: async ({ params }): Promise<Response> => {
        asked.push(params);
        const part = { type: "output_text" as const, text, annotations: [] };
        const message = {
          type: "message" as const,
          id: "msg_1",
          role: "assistant" as const,
          content: [part],
        };
        const answer = { id: "r", object: "response", created_at: 1, model: "m", output: [message] };
        return {
          ...answer,
          tools: [],
          tool_choice: "auto",
          parallel_tool_calls: true,
        } as unknown as Response;
      },
    });
    return { server: await createTestServer(definition, {}), asked };
  };

  it.each([
    { n: 2 },
    { logprobs: true },
    { logit_bias: { "5": 10 } },
    { presence_penalty: 0.5 },
    { top_k: 1 },
    { functions: [{ name: "f" }] },
  ])("rejects %j in a chat request to a Responses backend", async (setting) => {
    const { server, asked } = await textServer("Two.");
    const { status, text } = await server.post("/v1/chat/completions", { messages: question, ...setting });
    expect(status).toBe(422);
    expect(text).toContain(`${Object.keys(setting)[0]}: `);
    expect(asked).toEqual([]);
  });

  it.each([
    ["/v1/responses", { input: "Two?", previous_response_id: "resp_1" }],
    ["/v1/responses", { input: "Two?", prompt: { id: "pmpt_1" } }],
    ["/v1/messages", { model: "m", max_tokens: 5, messages: question, top_k: 1 }],
  ])("rejects what a chat backend cannot honour (%s, %j)", async (route, body) => {
    const { server, asked } = await chatServer(completion({ content: "2" }));
    expect((await server.post(route, body)).status).toBe(422);
    expect(asked).toEqual([]);
  });

  it("ends an answer at a stop sequence", async () => {
    const { server } = await textServer("One. Two. END Three.");
    const chat = (stop: unknown) =>
      server.post("/v1/chat/completions", { messages: question, stop }).then(({ body }) => body.choices[0]);
    expect(await chat("END")).toMatchObject({ message: { content: "One. Two. " }, finish_reason: "stop" });
    expect((await chat(["Three", "Two"])).message.content).toBe("One. ");
    expect((await chat(["absent"])).message.content).toBe("One. Two. END Three.");
    const ask = (stop_sequences: unknown) =>
      server.post("/v1/messages", { model: "m", max_tokens: 5, messages: question, stop_sequences });
    expect((await ask(["END"])).body).toMatchObject({
      content: [{ text: "One. Two. " }],
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    });
    expect((await ask([])).body).toMatchObject({ stop_reason: "end_turn" });
    expect((await ask("END")).status).toBe(422);
  });
});

describe("routes of a model server", () => {
  it("are the three dialects, the model description and the liveness probe", async () => {
    const { server } = await chatServer(completion({ content: "Hi" }));
    expect((await server.get("/")).status).toBe(200);
    expect((await server.get("/v1/completions")).status).toBe(404);
    expect((await server.post("/v1/completions", {})).status).toBe(404);
  });

  it("accept the rollout prefix with and without token capture", async () => {
    const { server } = await chatServer(completion({ content: "Hi" }));
    for (const prefix of ["/ng-rollout/7-0", "/ng-rollout/7-0/training-token-capture"]) {
      expect((await server.post(`${prefix}/v1/responses`, { input: "Two?" })).status).toBe(200);
      expect((await server.post(`${prefix}/v1/chat/completions`, { messages: question })).status).toBe(200);
      expect((await server.post(`${prefix}/v1/messages`, { messages: question })).status).toBe(200);
    }
  });
});

describe("POST /v1/responses", () => {
  it("returns every field of a response, with null for unknown ones", async () => {
    const { server, asked } = await chatServer(completion({ content: "Hi" }));
    const { body } = await server.post("/v1/responses", { input: "Two?", temperature: null, model: "mine" });
    const fields =
      "id created_at error incomplete_details instructions metadata model object output parallel_tool_calls temperature tool_choice tools top_p background conversation max_output_tokens max_tool_calls previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier status text top_logprobs truncation usage user";
    expect(Object.keys(body)).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(body).toMatchObject({ model: "configured", error: null, user: null, status: "completed" });
    // Explicit nulls are passed on; unset fields are not.
    expect(asked[0]).toHaveProperty("temperature", null);
    expect(asked[0]).not.toHaveProperty("top_p");
  });

  it.each([
    [{ input: "x", stop: ["y"] }, "stop"],
    [{}, "input"],
    [
      { input: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "x" }] }] },
      "input",
    ],
  ])("rejects %j with 422", async (body, place) => {
    const { server } = await chatServer(completion({ content: "Hi" }));
    const reply = await server.post("/v1/responses", body);
    expect(reply.status).toBe(422);
    expect(JSON.stringify(reply.body.detail)).toContain(place);
  });

  it("streams the answer item by item and ignores unknown keys", async () => {
    const { server } = await chatServer(completion({ content: "<think>hm</think>Hé", tool_calls: [call] }));
    const { status, text } = await server.post("/v1/responses", { input: "Two?", stream: 1, stop: ["y"] });
    expect(status).toBe(200);
    const sent = frames(text);
    const parsed = sent.map(({ data }) => JSON.parse(data));
    expect(sent.map(({ event }) => event)).toEqual(parsed.map(({ type }) => type));
    expect(parsed.map(({ sequence_number }) => sequence_number)).toEqual(parsed.map((_, index) => index));
    expect(parsed.at(0)).toMatchObject({
      type: "response.created",
      response: { status: "in_progress", output: [] },
    });
    expect(parsed.at(-1)).toMatchObject({ type: "response.completed" });
    for (const type of ["response.output_item.added", "response.output_item.done"]) {
      const items = parsed.filter((event) => event.type === type);
      expect(items.map(({ output_index }) => output_index)).toEqual([0, 1, 2]);
    }
    // The data is formatted as Python writes it.
    expect(text).toContain('"delta": "H\\u00e9"');
  });

  it("reports a failing backend and an invalid request with their status, before the stream", async () => {
    const message = "400 from host: bad schema";
    const refusal = new HttpError(400, message);
    const { server } = await chatServer(refusal);
    const { status, text } = await server.post("/v1/responses", { input: "Two?", stream: true });
    const plain = await server.post("/v1/responses", { input: "Two?" });
    expect([status, text]).toEqual([plain.status, plain.text]);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toContain(message);
    expect((await server.post("/v1/responses", { stream: true })).status).toBe(422);
  });

  it("ends the stream of an incomplete answer with response.completed", async () => {
    const cut = completion({ content: "Hi" });
    if (cut.choices[0]) cut.choices[0].finish_reason = "length";
    const { server } = await chatServer(cut);
    const sent = frames((await server.post("/v1/responses", { input: "Two?", stream: true })).text);
    expect(sent.at(-1)?.event).toBe("response.completed");
    expect(JSON.parse(sent.at(-1)?.data ?? "").response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });
});

describe("POST /v1/chat/completions", () => {
  it("forwards unknown keys to the backend and streams only for true", async () => {
    const { server, asked } = await chatServer(completion({ content: "Hi" }));
    expect((await server.post("/v1/chat/completions", { messages: question, odd: 1 })).status).toBe(200);
    expect(asked[0]).toHaveProperty("odd", 1);
    for (const stream of [1, "yes", "true"]) {
      const { status, body } = await server.post("/v1/chat/completions", { messages: question, stream });
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(["body", "stream"]);
    }
  });

  it("streams role, reasoning, content, calls and the end, with usage if requested", async () => {
    const message = {
      content: "Hi",
      reasoning_content: "hm",
      tool_calls: [call],
      prompt_token_ids: [1],
      generation_token_ids: [2],
      generation_log_probs: [-0.1],
    };
    const { server } = await chatServer(completion(message));
    const ask = { messages: question, stream: true, odd: 1 };
    const { text } = await server.post("/v1/chat/completions", {
      ...ask,
      stream_options: { include_usage: true },
    });
    const sent = frames(text);
    expect(sent.every(({ event }) => event === undefined)).toBe(true);
    expect(sent.at(-1)?.data).toBe("[DONE]");
    const chunks = sent.slice(0, -1).map(({ data }) => JSON.parse(data));
    expect(chunks.map(({ choices }) => Object.keys(choices[0]?.delta ?? { usage: 0 })[0])).toEqual([
      "role",
      "reasoning_content",
      "content",
      "tool_calls",
      undefined,
      "usage",
    ]);
    expect(chunks[0].choices[0].index).toBe(0);
    expect(chunks[4].choices[0].finish_reason).toBe("stop");
    expect(chunks[5]).toMatchObject({ choices: [], usage: { total_tokens: 6 } });
    expect(text).not.toContain("token_ids");
    const plain = frames((await server.post("/v1/chat/completions", ask)).text);
    expect(plain).toHaveLength(6);
  });

  it("reports a failing backend as an HTTP error, streamed or not", async () => {
    const { server } = await chatServer(new Error("out of order"));
    for (const stream of [true, false]) {
      const { status } = await server.post("/v1/chat/completions", { messages: question, stream });
      expect(status).toBe(500);
    }
  });
});

describe("POST /v1/messages", () => {
  it("streams blocks in the order of the Messages API", async () => {
    const { server } = await chatServer(completion({ content: "<think>hm</think>Hi", tool_calls: [call] }));
    const ask = { model: "asked", max_tokens: 9, messages: question };
    const { body } = await server.post("/v1/messages", ask);
    expect(body).toMatchObject({
      type: "message",
      model: "asked",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "text", text: "Hi" },
        { type: "tool_use", id: "call_1", name: "add", input: { a: 1 } },
      ],
      usage: { input_tokens: 4, output_tokens: 2 },
    });
    const sent = frames((await server.post("/v1/messages", { ...ask, stream: true })).text);
    const block = ["content_block_start", "content_block_delta", "content_block_stop"];
    expect(sent.map(({ event }) => event)).toEqual([
      "message_start",
      ...block,
      ...block,
      ...block,
      "message_delta",
      "message_stop",
    ]);
    const data = sent.map((frame) => JSON.parse(frame.data));
    expect(data[0].message).toMatchObject({ content: [], stop_reason: "tool_use" });
    expect([2, 5, 8].map((at) => data[at].delta.type)).toEqual([
      "thinking_delta",
      "text_delta",
      "input_json_delta",
    ]);
    expect(data[8].delta.partial_json).toBe('{"a": 1}');
  });

  it("forwards an error of the handler with its status", async () => {
    const { server } = await chatServer(new HttpError(409, "not now"));
    expect((await server.post("/v1/messages", { messages: question })).status).toBe(409);
  });
});

describe("an answer that cannot be converted", () => {
  const custom = completion({
    tool_calls: [{ id: "x", type: "custom", custom: { name: "sql", input: "1" } }],
  });
  const odd = completion({ tool_calls: [{ ...call, function: { name: "add", arguments: "[1]" } }] });

  it.each([
    // Content that the dialect cannot express will fail again; broken arguments may be valid in another attempt.
    ["/v1/responses", { input: "Two?" }, custom, false],
    ["/v1/messages", { messages: question }, odd, true],
  ])("is an error of the model at %s, not of the caller", async (path, body, answer, retryable) => {
    const { server } = await chatServer(answer);
    const reply = await server.post(path, body);
    expect(reply.status).toBe(502);
    expect(reply.body.error).toMatchObject({ class: "invalid_response", stage: "model", retryable });
  });

  it("a request that cannot be converted is an error of the caller", async () => {
    const { server, asked } = await chatServer(custom);
    const reply = await server.post("/v1/responses", { input: "Two?", tool_choice: "required" });
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject({ class: "invalid_request", retryable: false });
    expect(asked).toEqual([]);
  });
});

it("serves chat with a Responses backend and keeps the request", async () => {
  const asked: ResponseCreateParams[] = [];
  const server = await createTestServer(
    defineModel({
      config: z.looseObject({}),
      responses: async ({ params }) => {
        asked.push(params);
        return {
          id: "r",
          created_at: 1,
          model: "m",
          object: "response",
          output: [
            {
              type: "function_call",
              id: "f",
              call_id: "call_1",
              name: "add",
              arguments: "{}",
              status: "completed",
            },
          ],
          parallel_tool_calls: true,
          tool_choice: "auto",
          tools: [],
        } as unknown as Response;
      },
    }),
    {},
  );
  const tools = [{ type: "function", function: { name: "add", parameters: { type: "object" } } }];
  const { body } = await server.post("/v1/chat/completions", {
    messages: question,
    tools,
    max_completion_tokens: 9,
  });
  expect(body.choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: { tool_calls: [{ id: "call_1", function: { name: "add" } }] },
  });
  expect(asked[0]).toMatchObject({ max_output_tokens: 9, tools: [{ type: "function", name: "add" }] });
});

describe("usage by rollout", () => {
  const ask = (model: string, id: string) => [
    [`/ng-rollout/${id}/v1/responses`, { model, input: "Two?" }],
    [`/ng-rollout/${id}/v1/chat/completions`, { model, messages: question, stream: true }],
    [`/ng-rollout/${id}/v1/messages`, { model, max_tokens: 9, messages: question }],
  ];

  it("is summed over all dialects and returned once", async () => {
    const { server } = await chatServer(completion({ content: "2" }));
    for (const [path, body] of [...ask("m", "a"), ...ask("m", "b").slice(0, 1)])
      expect((await server.post(path as string, body)).status).toBe(200);
    const { body } = await server.post("/ng-rollout/a/rollout_usage", {});
    expect(body.usage).toMatchObject({
      input_tokens: 12,
      output_tokens: 6,
      total_tokens: 18,
      ng_model_calls: 3,
    });
    expect((await server.post("/ng-rollout/a/rollout_usage", {})).body).toEqual({ usage: null });
    expect((await server.post("/ng-rollout/b/rollout_usage", {})).body.usage).toMatchObject({
      ng_model_calls: 1,
    });
  });

  it("is unknown, not zero, if the endpoint does not report it", async () => {
    const { server } = await chatServer(completion({ content: "2" }, { usage: undefined }));
    await server.post("/ng-rollout/a/v1/responses", { model: "m", input: "Two?" });
    expect((await server.post("/ng-rollout/a/rollout_usage", {})).body).toEqual({ usage: null });
  });
});
