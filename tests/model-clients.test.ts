import { spawn, spawnSync } from "node:child_process";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import anthropicModel from "../responses_api_models/anthropic_model/app.ts";
import azureModel from "../responses_api_models/azure_openai_model/app.ts";
import genrmModel from "../responses_api_models/genrm_model/app.ts";
import inferenceProvider from "../responses_api_models/inference_provider/app.ts";
import litellmModel from "../responses_api_models/litellm_model/app.ts";
import localVllmModel from "../responses_api_models/local_vllm_model/app.ts";
import openaiModel from "../responses_api_models/openai_model/app.ts";
import vllmModel from "../responses_api_models/vllm_model/app.ts";
import type { ServerDefinition } from "../src/servers/definitions/definitions.ts";
import { AnthropicDouble } from "../src/testing/anthropic-double.ts";
import { type EndpointRequest, type EndpointServer, faults } from "../src/testing/endpoint-server.ts";
import { type MockAnswer, MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { VllmDouble } from "../src/testing/vllm-double.ts";
import { startModelServer } from "./model-servers.ts";

const KEY = "sk-provider-0123456789";

/** A tool call if there are tools and no result yet, else the answer. */
const answer = ({ body }: EndpointRequest): MockAnswer => {
  const text = JSON.stringify(body);
  const answered = /tool_result|function_call_output|"role":"tool"/.test(text);
  if (Array.isArray(body["tools"]) && body["tools"].length > 0 && !answered) {
    return { toolCalls: [{ id: "call_1", name: "find_ferry", arguments: { harbour: "Oban" } }] };
  }
  return { text: "The ferry leaves at noon." };
};

interface Backend {
  definition: ServerDefinition;
  endpoint: () => EndpointServer & { baseUrl: string };
  config: (baseUrl: string) => Record<string, unknown>;
}

const quick = { retry_attempts: 2, retry_first_pause_seconds: 0.01 };

const vllm: Omit<Backend, "definition"> = {
  endpoint: () => new VllmDouble({ apiKey: KEY, answer }),
  config: (base_url) => ({
    base_url,
    api_key: KEY,
    model: "toy/toy-1b",
    return_token_id_information: true,
    uses_reasoning_parser: true,
    ...quick,
  }),
};
const local = { vllm_serve_kwargs: {}, vllm_serve_env_vars: {} };

const backends: Record<string, Backend> = {
  azure_openai_model: {
    definition: azureModel,
    endpoint: () => new MockModelEndpoint({ answer }),
    config: (url) => ({
      openai_base_url: url.replace(/\/v1$/, ""),
      openai_api_key: KEY,
      openai_model: "m",
      default_query: { "api-version": "2025-01-01-preview" },
      num_concurrent_requests: 8,
      ...quick,
    }),
  },
  litellm_model: {
    definition: litellmModel,
    endpoint: () =>
      new MockModelEndpoint({
        apiKey: KEY,
        answer,
        other: ({ path }) =>
          path === "/health/readiness/details" ? { body: { litellm_version: "1.83.0" } } : undefined,
      }),
    config: (url) => ({ openai_base_url: url, openai_api_key: KEY, openai_model: "m", ...quick }),
  },
  local_vllm_model: {
    ...vllm,
    definition: localVllmModel,
    config: (url) => ({ ...vllm.config(url), ...local }),
  },
  genrm_model: {
    ...vllm,
    definition: genrmModel,
    config: (url) => ({ ...vllm.config(url), ...local, return_token_id_information: false }),
  },
  openai_model: {
    definition: openaiModel,
    endpoint: () => new MockModelEndpoint({ apiKey: KEY, answer }),
    config: (url) => ({ openai_base_url: url, openai_api_key: KEY, openai_model: "m", ...quick }),
  },
  inference_provider: {
    definition: inferenceProvider,
    endpoint: () => new MockModelEndpoint({ apiKey: KEY, answer }),
    config: (base_url) => ({ base_url, api_key: KEY, model: "m", ...quick }),
  },
  anthropic_model: {
    definition: anthropicModel,
    endpoint: () => new AnthropicDouble({ apiKey: KEY, answer }),
    config: (base_url) => ({ base_url, api_key: KEY, model: "m", ...quick }),
  },
  vllm_model: { ...vllm, definition: vllmModel },
};

async function start(name: string) {
  const { definition, endpoint, config } = backends[name] as Backend;
  const started = await endpoint().start();
  onTestFinished(() => started.close());
  const url = await startModelServer(definition, config((started as unknown as { baseUrl: string }).baseUrl));
  return {
    endpoint: started,
    url,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: "anything" }),
    anthropic: new Anthropic({ baseURL: url, apiKey: "anything" }),
  };
}

const parameters = { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] };
const question = { role: "user", content: "When does the ferry leave?" } as const;

describe.each(Object.keys(backends))("the official clients with %s", (name) => {
  it("call the Responses API: plain, with tools, streamed", async () => {
    const { openai } = await start(name);
    const plain = await openai.responses.create({ model: "m", input: "When?" });
    expect(plain.output_text).toBe("The ferry leaves at noon.");
    const tools = [{ type: "function" as const, name: "find_ferry", parameters, strict: true }];
    const called = await openai.responses.create({ model: "m", input: [question], tools });
    const call = called.output.find((item) => item.type === "function_call");
    expect(JSON.parse(call?.arguments ?? "null")).toEqual({ harbour: "Oban" });
    const result = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "noon" };
    const again = await openai.responses.create({
      model: "m",
      tools,
      input: [question, ...(called.output as OpenAI.Responses.ResponseInputItem[]), result],
    });
    expect(again.output_text).toBe("The ferry leaves at noon.");
    const stream = await openai.responses.create({ model: "m", input: "When?", stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(0)).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
    let heard = "";
    const helper = openai.responses
      .stream({ model: "m", input: "When?" })
      .on("response.output_text.delta", ({ delta }) => (heard += delta));
    expect((await helper.finalResponse()).output_text).toBe("The ferry leaves at noon.");
    expect(heard).toBe("The ferry leaves at noon.");
    const calling = await openai.responses.stream({ model: "m", input: [question], tools }).finalResponse();
    expect(calling.output.at(-1)).toMatchObject({ type: "function_call", name: "find_ferry" });
  });

  it("call Chat Completions: plain, with tools, streamed", async () => {
    const { openai } = await start(name);
    const plain = await openai.chat.completions.create({ model: "m", messages: [question] });
    expect(plain.choices[0]?.message.content).toBe("The ferry leaves at noon.");
    const tools = [{ type: "function" as const, function: { name: "find_ferry", parameters } }];
    const called = await openai.chat.completions.create({ model: "m", messages: [question], tools });
    const message = called.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual({ harbour: "Oban" });
    const again = await openai.chat.completions.create({
      model: "m",
      tools,
      messages: [
        question,
        message as OpenAI.Chat.ChatCompletionMessageParam,
        { role: "tool", tool_call_id: call?.id ?? "", content: "noon" },
      ],
    });
    expect(again.choices[0]?.message.content).toBe("The ferry leaves at noon.");
    const stream = openai.chat.completions.stream({
      model: "m",
      messages: [question],
      stream_options: { include_usage: true },
    });
    expect(await stream.finalContent()).toBe("The ferry leaves at noon.");
    expect((await stream.totalUsage()).completion_tokens).toBeGreaterThan(0);
  });

  it("call Messages: plain, with tools, streamed", async () => {
    const { anthropic } = await start(name);
    const base = { model: "m", max_tokens: 100, messages: [question] };
    const plain = await anthropic.messages.create(base);
    expect(plain.content).toMatchObject([{ type: "text", text: "The ferry leaves at noon." }]);
    const tools = [{ name: "find_ferry", input_schema: parameters as Anthropic.Tool.InputSchema }];
    const called = await anthropic.messages.create({ ...base, tools });
    const use = called.content.find((block) => block.type === "tool_use");
    expect(use?.input).toEqual({ harbour: "Oban" });
    const result = { type: "tool_result" as const, tool_use_id: use?.id ?? "", content: "noon" };
    const again = await anthropic.messages.create({
      ...base,
      tools,
      messages: [
        question,
        { role: "assistant", content: called.content as Anthropic.ContentBlockParam[] },
        { role: "user", content: [result] },
      ],
    });
    expect(again.content).toMatchObject([{ type: "text", text: "The ferry leaves at noon." }]);
    const stream = anthropic.messages.stream(base);
    expect(await stream.finalText()).toBe("The ferry leaves at noon.");
  });

  it("send images to the provider", async () => {
    const { endpoint, openai } = await start(name);
    const image_url = `data:image/png;base64,${"iVBORw0KGgo".repeat(512)}`;
    const content = [
      { type: "input_image" as const, image_url, detail: "auto" as const },
      { type: "input_text" as const, text: "Which harbour is this?" },
    ];
    const reply = await openai.responses.create({ model: "m", input: [{ role: "user", content }] });
    expect(reply.output_text).toBe("The ferry leaves at noon.");
    const sent = JSON.stringify(endpoint.requests.at(-1)?.body);
    const [, data] = image_url.split(",");
    expect(sent).toContain(
      name === "anthropic_model" ? `"media_type":"image/png","data":"${data}"` : `"${image_url}"`,
    );
    expect(sent).toContain("Which harbour is this?");
  });

  it("raise the provider's errors once, without the key", async () => {
    const { endpoint, openai, anthropic } = await start(name);
    const ask = () => openai.responses.create({ model: "m", input: "When?" });
    endpoint.fail(faults.unauthorized(`No such key: ${KEY}`));
    const rejected = await ask().catch((error: Error) => error);
    expect(rejected).toBeInstanceOf(OpenAI.AuthenticationError);
    expect((rejected as Error).message).toMatch(/401 from 127\.0\.0\.1:\d+: No such key: \*\*\*\*/);
    const before = endpoint.count;
    endpoint.fail(faults.rateLimited(0), faults.rateLimited(0));
    const limited = await openai.chat.completions
      .create({ model: "m", messages: [question] })
      .catch((error: Error) => error);
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    // Two attempts of the server; the client is configured not to retry.
    expect(endpoint.count - before).toBe(2);
    endpoint.fail({ kind: "status", status: 400, message: "Too clever a question." });
    const bad = await anthropic.messages
      .create({ model: "m", max_tokens: 5, messages: [question] })
      .catch((error: Error) => error);
    expect(bad).toBeInstanceOf(Anthropic.BadRequestError);
    expect((bad as Error).message).toContain("Too clever a question.");
    const invalid = await openai.responses
      .create({ model: "m", input: [{ type: "message", role: "nobody", content: "x" }] as never })
      .catch((error: Error) => error);
    expect(invalid).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect((invalid as Error).message).toContain("input.0");
    expect((invalid as Error).message).not.toContain("no body");
  });
});

/** An interpreter with the `openai` package: `NEMO_GYM_TEST_PYTHON`, or the one on the path. */
const python = process.env["NEMO_GYM_TEST_PYTHON"] ?? "python3";
const hasPythonClient = spawnSync(python, ["-c", "import openai"]).status === 0;

const PROGRAM = `
import json, sys, openai
client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="anything")
found = {}
found["plain"] = client.responses.create(model="m", input="When?").output_text
tool = {"type": "function", "name": "find_ferry", "parameters": {"type": "object", "properties": {}}, "strict": False}
found["call"] = client.responses.create(model="m", input="When?", tools=[tool]).output[0].name
found["events"] = [event.type for event in client.responses.create(model="m", input="When?", stream=True)]
message = [{"role": "user", "content": "When?"}]
found["chat"] = client.chat.completions.create(model="m", messages=message).choices[0].message.content
stream = client.chat.completions.create(model="m", messages=message, stream=True)
found["chunks"] = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
try:
    client.responses.create(model="m", input=[{"type": "message", "role": "nobody", "content": "x"}])
except openai.UnprocessableEntityError as error:
    found["error"] = error.status_code
print(json.dumps(found))
`;

it("include the Python client, if it is installed", async () => {
  if (!hasPythonClient) {
    console.info(
      `${python} has no openai package: the Python client was not tried (set NEMO_GYM_TEST_PYTHON).`,
    );
    return;
  }
  const { url } = await start("vllm_model");
  // The server runs in this process, so waiting must not block it.
  const child = spawn(python, ["-c", PROGRAM, url], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += chunk;
  const noon = "The ferry leaves at noon.";
  expect(JSON.parse(text)).toMatchObject({
    plain: noon,
    call: "find_ferry",
    events: [
      "response.created",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ],
    chat: noon,
    chunks: noon,
    error: 422,
  });
});
