import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { createTestServer, functionCallItem, messageItem, modelResponse } from "../../../testing/index.ts";
import {
  defineFrameworkAgent,
  type FrameworkResult,
  type FrameworkRun,
  IncompleteRun,
} from "./define-framework-agent.ts";

const config = {
  resources_server: { type: "resources_servers", name: "tools" },
  model_server: { type: "responses_api_models", name: "model" },
};
const tools = [
  { type: "function", name: "add", parameters: { type: "object", properties: {} }, strict: false },
];
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};
const response = (...output: unknown[]) => ({ ...modelResponse(...output), usage });
const completion = (message: object) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: null, ...message } }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
const calls = [{ id: "c1", type: "function", function: { name: "add", arguments: '{"n":1}' } }];

type Respond = (run: FrameworkRun<Record<string, unknown>>) => Promise<FrameworkResult>;

/** Runs a row by an agent, against a model that says what the script says. */
async function run(
  respond: Respond,
  script: unknown[],
  options: { config?: object; params?: object; row?: object; counted?: object } = {},
) {
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  const definition = defineFrameworkAgent({ name: "Test", respond: respond as never });
  const server = await createTestServer(definition, {
    config: { ...config, ...options.config },
    servers: {
      model: (path, body) => {
        if (path.endsWith("/rollout_usage")) return { usage: options.counted ?? null };
        asked.push({ path, body: body as Record<string, unknown> });
        return script[asked.length - 1];
      },
      tools: (path, body) => {
        if (path === "/seed_session") return {};
        return path === "/verify" ? { ...(body as object), reward: 1 } : { ran: path };
      },
    },
  });
  const params = { input: "Add.", tools, ...options.params };
  const reply = await server.post("/run", { ...options.row, responses_create_params: params });
  await server.close();
  return { reply, asked, response: reply.body.response };
}

const kinds = (output: { type: string }[]) => output.map(({ type }) => type);

describe("the loop of a framework", () => {
  const chat: Respond = async ({ messages, model, tools: [add] }) => {
    const client = new OpenAI({
      baseURL: model.baseUrl,
      apiKey: model.apiKey,
      fetch: model.fetch,
      maxRetries: 0,
    });
    const conversation: OpenAI.ChatCompletionMessageParam[] = [...(messages as never[])];
    for (;;) {
      const { choices } = await client.chat.completions.create({ model: model.name, messages: conversation });
      const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
      conversation.push(message);
      if (!message.tool_calls?.length) return message.content ?? "";
      for (const call of message.tool_calls) {
        if (call.type !== "function") continue;
        const content = await add?.run(call.function.arguments, call.id);
        conversation.push({ role: "tool", tool_call_id: call.id, content: content ?? "" });
      }
    }
  };

  it("is recorded from its chat completions", async () => {
    const script = [completion({ tool_calls: calls }), completion({ content: "2" })];
    const { response: done, asked, reply } = await run(chat, script, { params: { temperature: 0.3 } });
    expect(reply.body.reward).toBe(1);
    expect(kinds(done.output)).toEqual(["function_call", "function_call_output", "message"]);
    expect(done.output[1].output).toBe('{"ran":"/add"}');
    expect(done.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    expect(asked.map(({ path, body }) => [path, body["temperature"]])).toEqual([
      ["/v1/chat/completions", 0.3],
      ["/v1/chat/completions", 0.3],
    ]);
  });

  it("has the usage that the model server counted for its rollout", async () => {
    const counted = { ...usage, input_tokens: 70, ng_model_calls: 7 };
    const row = { _ng_task_index: 3, _ng_rollout_index: 1 };
    const { response: done, asked } = await run(chat, [completion({ content: "2" })], { counted, row });
    expect(done.usage).toMatchObject({ input_tokens: 70, ng_model_calls: 7 });
    expect(asked.map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\/ng-rollout\/[^/]+\/v1\/chat\/completions$/),
    ]);
  });

  it("is recorded from streamed Responses", async () => {
    const streaming: Respond = async ({ params, model }) => {
      const client = new OpenAI({ baseURL: model.baseUrl, apiKey: model.apiKey, fetch: model.fetch });
      const stream = client.responses.stream({ model: model.name, input: params.input as string });
      return (await stream.finalResponse()).output_text;
    };
    const { response: done, asked } = await run(streaming, [response(messageItem("streamed"))]);
    expect(asked[0]?.body).not.toHaveProperty("stream");
    expect(done.output).toHaveLength(1);
    expect(done.output[0].content[0].text).toBe("streamed");
    expect(done.usage.total_tokens).toBe(15);
  });

  it("is recorded from Anthropic messages", async () => {
    const messages: Respond = async ({ model }) => {
      const client = new Anthropic({
        baseURL: model.baseUrl.replace(/\/v1$/, ""),
        apiKey: "k",
        fetch: model.fetch,
      });
      const answer = await client.messages.create({
        model: model.name,
        max_tokens: 9,
        messages: [{ role: "user", content: "Hi." }],
      });
      expect(answer.content[0]).toMatchObject({ text: "hello" });
    };
    const answer = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 4 },
    };
    const { response: done } = await run(messages, [answer]);
    expect(done.output[0].content[0].text).toBe("hello");
    expect(done.usage).toMatchObject({ input_tokens: 3, output_tokens: 4 });
  });

  it("keeps outputs that the framework wrote itself", async () => {
    const own: Respond = async ({ model }) => {
      const client = new OpenAI({ baseURL: model.baseUrl, apiKey: "k", fetch: model.fetch });
      await client.responses.create({ model: "m", input: "Go." });
      const output = "Error: no such tool";
      const input = [{ type: "function_call_output" as const, call_id: "c9", output }];
      await client.responses.create({ model: "m", input });
    };
    const script = [response(functionCallItem("gone", {}, "c9")), response(messageItem("sorry"))];
    const { response: done } = await run(own, script);
    expect(kinds(done.output)).toEqual(["function_call", "function_call_output", "message"]);
    expect(done.output[1].output).toBe("Error: no such tool");
  });

  it("ends at max_steps with the items so far", async () => {
    const script = [completion({ tool_calls: calls }), completion({ tool_calls: calls })];
    const { response: done, reply } = await run(chat, script, { config: { max_steps: 1 } });
    expect(reply.status).toBe(200);
    expect(done).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_steps" } });
    expect(kinds(done.output)).toEqual(["function_call", "function_call_output", "message"]);
  });
});

describe("answers", () => {
  const asking =
    (answer: FrameworkResult): Respond =>
    async ({ model }) => {
      const client = new OpenAI({ baseURL: model.baseUrl, apiKey: "k", fetch: model.fetch });
      await client.responses.create({ model: "m", input: "Go." });
      return answer;
    };

  it("that are not the last message of the model are added", async () => {
    const { response: done } = await run(asking("chosen"), [response(messageItem("draft"))]);
    const texts = done.output.map((item: { content: { text: string }[] }) => item.content[0]?.text);
    expect(texts).toEqual(["draft", "chosen"]);
  });

  it("may be all items", async () => {
    const { response: done } = await run(asking([messageItem("only") as never]), [
      response(messageItem("x")),
    ]);
    expect(done.output).toMatchObject([{ content: [{ text: "only" }] }]);
    expect(done.usage.total_tokens).toBe(15);
  });

  it("that the framework rejects make the rollout incomplete, not failed", async () => {
    const { response: done } = await run(async () => {
      throw new IncompleteRun("invalid_tool_call");
    }, []);
    expect(done).toMatchObject({ incomplete_details: { reason: "invalid_tool_call" }, usage: null });
    expect(done.output).toMatchObject([{ type: "message" }]);
  });
});

describe("failures", () => {
  const failure = {
    class: "provider_auth",
    stage: "model",
    retryable: false,
    message: "401 from x: bad key",
  };
  const script = [{ status: 401, body: { detail: failure.message, error: failure } }];

  it.each([true, false])("of the model are the root cause (swallowed: %s)", async (swallowed) => {
    const { reply } = await run(async ({ model }) => {
      const client = new OpenAI({ baseURL: model.baseUrl, apiKey: "k", fetch: model.fetch });
      const asked = client.responses.create({ model: "m", input: "Go." });
      if (!swallowed) await asked;
      else await asked.catch(() => {});
      return "I do not know.";
    }, script);
    expect(reply).toMatchObject({ status: 401, body: { error: failure } });
  });

  it("of the agent itself are failures", async () => {
    const { reply } = await run(async () => {
      throw new TypeError("oh");
    }, []);
    expect(reply.status).toBe(500);
  });

  it("answers other routes with 404", async () => {
    const { reply } = await run(async ({ model }) => {
      const answer = await model.fetch(`${model.baseUrl}/embeddings`, { method: "POST", body: "{}" });
      return String(answer.status);
    }, []);
    expect(reply.body.response.output[0].content[0].text).toBe("404");
  });
});
