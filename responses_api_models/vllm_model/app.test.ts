import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createTestServer,
  faults,
  type TestServer,
  VllmDouble,
  type VllmDoubleOptions,
} from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";

const open: { close(): Promise<unknown> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

async function engine(options: VllmDoubleOptions = {}): Promise<VllmDouble> {
  const double = await new VllmDouble({ apiKey: "key-of-the-engine", ...options }).start();
  open.push(double);
  return double;
}

async function model(
  double: VllmDouble | VllmDouble[],
  config: Record<string, unknown> = {},
): Promise<TestServer> {
  const doubles = [double].flat();
  const server = await createTestServer(definition, {
    config: {
      base_url: doubles.length === 1 ? doubles[0]?.baseUrl : doubles.map(({ baseUrl }) => baseUrl),
      api_key: "key-of-the-engine",
      model: "toy/toy-1b",
      return_token_id_information: false,
      uses_reasoning_parser: true,
      retry_first_pause_seconds: 0.01,
      ...config,
    },
  });
  open.push(server);
  return server;
}

const ask = { model: "ignored", input: [{ role: "user", content: "What time does the ferry leave?" }] };

describe("chat requests", () => {
  const messages = [{ role: "user", content: "Hi" }];

  it("keep the settings of the engine and merge template settings", async () => {
    const double = await engine();
    const server = await model(double, {
      chat_template_kwargs: { enable_thinking: true, lang: "en" },
      sampling_overrides: { min_p: 0.5 },
    });
    const { status } = await server.post("/v1/chat/completions", {
      messages,
      top_k: 5,
      min_p: 0.1,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(status).toBe(200);
    expect(double.requests.at(-1)?.body).toMatchObject({
      top_k: 5,
      min_p: 0.5,
      chat_template_kwargs: { enable_thinking: false, lang: "en" },
    });
    const odd = await server.post("/v1/chat/completions", { messages, chat_template_kwargs: 1 });
    expect(odd.body.detail).toContain("chat_template_kwargs must be a JSON object");
  });
});

describe("answers", () => {
  it("become reasoning, message and call items", async () => {
    const double = await engine({
      answer: () => ({
        reasoning: "Look it up.",
        text: "One moment.",
        toolCalls: [{ name: "find", arguments: { a: 1 } }],
      }),
    });
    const { status, body } = await (await model(double)).post("/v1/responses", ask);
    expect(status).toBe(200);
    expect(body.model).toBe("toy/toy-1b");
    expect(body.output.map((item: { type: string }) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
    ]);
    expect(body.output[0].summary[0].text).toBe("Look it up.");
    expect(body.output[2].arguments).toBe('{"a":1}');
    expect(body.usage.input_tokens).toBe(double.calls[0]?.promptIds.length);
    expect(body.output[2]).not.toHaveProperty("prompt_token_ids");
  });

  it("have the engine's ids and log-probabilities on their last item", async () => {
    for (const [asks, knows] of [
      [true, true],
      [true, false],
      [false, true],
    ] as const) {
      const double = await engine({
        returnsTokenIds: knows,
        answer: () => ({ reasoning: "hm", text: "At noon." }),
      });
      const server = await model(double, {
        return_token_id_information: true,
        request_prompt_and_generation_token_ids: asks,
      });
      const { body } = await server.post("/v1/responses", ask);
      const [call] = double.calls;
      expect(body.output[0]).not.toHaveProperty("prompt_token_ids");
      expect(body.output[1].prompt_token_ids).toEqual(call?.promptIds);
      expect(body.output[1].generation_token_ids).toEqual(call?.generationIds);
      expect(body.output[1].generation_log_probs).toHaveLength(call?.generationIds.length ?? -1);
      const tokenized = double.requests.filter(({ path }) => path === "/tokenize");
      expect(tokenized).toHaveLength(asks && knows ? 0 : 1);
    }
  });

  it("without the requested ids are an error", async () => {
    const double = await engine();
    const server = await model(double, {
      return_token_id_information: true,
      sampling_overrides: { logprobs: false },
    });
    const { status, body } = await server.post("/v1/responses", ask);
    expect(status).toBe(502);
    expect(body.error).toMatchObject({ class: "invalid_response", retryable: false });
    expect(body.detail).toContain("without log-probabilities");
  });

  it("to a prompt beyond the context are incomplete, and other refusals are errors", async () => {
    const double = await engine({ maxModelLen: 8 });
    const server = await model(double);
    const { status, body } = await server.post("/v1/responses", ask);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage: null,
    });
    expect(body.output[0].content[0].text).toBe("");
    const other = await (await model(double, { model: "unknown" })).post("/v1/responses", ask);
    expect(other.status).toBe(404);
    expect(other.body.detail).toMatch(
      /^404 from 127.0.0.1:\d+\/v1\/chat\/completions: The model `unknown` does not exist\.$/,
    );
  });
});

describe("answers of an engine with other settings", () => {
  it("are reported as invalid responses, not as bad requests", async () => {
    const double = await engine({ answer: () => ({ reasoning: "hm", text: "At noon." }) });
    const server = await model(double, { uses_reasoning_parser: false });
    const { status, body } = await server.post("/v1/responses", ask);
    expect(status).toBe(502);
    expect(body.error).toMatchObject({ class: "invalid_response", stage: "model", retryable: false });
    expect(body.detail).toMatch(/^200 from 127.0.0.1:\d+, but the engine reports reasoning apart/);
  });

  it("that are too long are recognized by their message and status", async () => {
    const double = await engine();
    const server = await model(double, { retry_attempts: 1 });
    const messages = [{ role: "user", content: "When?" }];
    double.fail({ kind: "status", status: 400, message: "max_tokens must be at least 1, got -5" });
    const cut = await server.post("/v1/chat/completions", { messages });
    expect(cut.body).toMatchObject({
      id: "chtcmpl-123",
      choices: [{ finish_reason: "length", message: { content: null } }],
    });
    for (const status of [413, 422]) {
      double.fail({ kind: "status", status, message: "beyond the context length" });
      expect((await server.post("/v1/chat/completions", { messages })).status).toBe(status);
    }
  });
});

describe("requests", () => {
  it("send reasoning back in separate fields, or omit it, or send it unchanged", async () => {
    const double = await engine();
    const reasoning = (text: string) => ({
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text }],
    });
    const input = [
      ...ask.input,
      reasoning("first"),
      reasoning("second"),
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "noon" },
    ];
    const sent = async (config: Record<string, unknown>) => {
      await (await model(double, config)).post("/v1/responses", { input });
      const messages = (double.requests.at(-1)?.body["messages"] ?? []) as Record<string, unknown>[];
      return messages[1];
    };
    expect(await sent({})).toMatchObject({ content: "", reasoning_content: "first", reasoning: "first" });
    const silent = await sent({ uses_interleaved_reasoning: false });
    expect(silent).toMatchObject({ content: "" });
    expect(silent).not.toHaveProperty("reasoning");
    const whole = { content: "<think>first</think><think>second</think>" };
    expect(await sent({ preserve_reasoning_in_assistant_content: true })).toMatchObject(whole);
    expect(await sent({ uses_reasoning_parser: false })).toMatchObject(whole);
  });

  it("keep their metadata, omit a null top_logprobs, and are refused if metadata.extra_body is not a JSON object", async () => {
    const double = await engine();
    const metadata = { note: "n", extra_body: '{"min_p": 0.2}' };
    await (await model(double)).post("/v1/responses", { ...ask, metadata, top_logprobs: null });
    expect(double.requests[0]?.body).toMatchObject({ metadata, min_p: 0.2 });
    expect(double.requests[0]?.body).not.toHaveProperty("top_logprobs");
    for (const config of [{}, { use_completions_api: true }]) {
      const server = await model(double, config);
      for (const extra_body of ["{", "[]"]) {
        const reply = await server.post("/v1/responses", { input: "When?", metadata: { extra_body } });
        expect(reply).toMatchObject({ status: 422, body: { error: { class: "invalid_request" } } });
        expect(reply.body.detail).toContain("metadata.extra_body");
      }
    }
  });

  it("merge settings in the order extra_body, request, overrides", async () => {
    const double = await engine();
    const server = await model(double, {
      extra_body: { top_k: 5, temperature: 0.1 },
      sampling_overrides: { top_p: 0.5 },
      chat_template_kwargs: { thinking: true, depth: 1 },
      replace_developer_role_with_system: true,
    });
    await server.post("/v1/responses", {
      ...ask,
      input: [{ role: "developer", content: "Be brief." }, ...ask.input],
      temperature: 0.7,
      top_p: 1,
      metadata: { chat_template_kwargs: '{"depth": 2}', extra_body: '{"min_p": 0.2}' },
    });
    expect(double.requests[0]?.body).toMatchObject({
      model: "toy/toy-1b",
      top_k: 5,
      min_p: 0.2,
      temperature: 0.7,
      top_p: 0.5,
      chat_template_kwargs: { thinking: true, depth: 2 },
      messages: [{ role: "system", content: "Be brief." }, { role: "user" }],
    });
  });

  it("that end with reasoning are answered without the engine if sequential_reasoning_allowed is false", async () => {
    const double = await engine();
    const server = await model(double, { sequential_reasoning_allowed: false });
    const input = [
      ...ask.input,
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
    ];
    const { body } = await server.post("/v1/responses", { input });
    expect(body.incomplete_details).toEqual({ reason: "content_filter" });
    expect(double.count).toBe(0);
  });

  it("go to the engine's Responses API if it has one", async () => {
    const double = await engine();
    const server = await model(double, {
      is_responses_native: true,
      extra_body: { reasoning: { effort: "high" } },
    });
    const { status } = await server.post("/v1/responses", ask);
    expect(status).toBe(404);
    expect(double.requests[0]).toMatchObject({
      path: "/v1/responses",
      body: { reasoning: { effort: "high" } },
    });
    await expect(
      model(double, { is_responses_native: true, return_token_id_information: true }),
    ).rejects.toThrow("cannot be combined");
  });

  it("contain recordings before the last question", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gym-audio-"));
    folders.push(folder);
    await writeFile(join(folder, "a.mp3"), "sound");
    await writeFile(join(folder, "a.txt"), "text");
    const double = await engine();
    const server = await model(double, { audio_root: folder });
    const post = (audio_path: string) =>
      server.post("/v1/responses", { ...ask, metadata: { audio_path, keep: "x" } });
    await post("a.mp3");
    expect(double.requests[0]?.body).toMatchObject({
      metadata: { keep: "x" },
      messages: [
        {
          content: [
            { type: "audio_url", audio_url: { url: "data:audio/mpeg;base64,c291bmQ=" } },
            { type: "text" },
          ],
        },
      ],
    });
    for (const bad of ["a.txt", "missing.wav", "../outside.wav"]) {
      const { status, body } = await post(bad);
      expect([status, body.error.class]).toEqual([422, "invalid_row"]);
    }
  });
});

describe("replicas", () => {
  it.each([false, true])(
    "keep their sessions, and replace each other after a failure; training: %s",
    async (training) => {
      const doubles = [await engine(), await engine(), await engine()];
      const server = await model(doubles, { return_token_id_information: training });
      const jar = server.newJar();
      for (let turn = 0; turn < 4; turn++) await server.post("/v1/responses", ask, jar);
      const counts = doubles.map(({ calls }) => calls.length);
      expect(counts.toSorted()).toEqual([0, 0, 4]);
      const own = doubles[counts.indexOf(4)] as VllmDouble;
      await own.close();
      const { status, body } = await server.post("/v1/responses", ask, jar);
      expect(status).toBe(200);
      const other = doubles.find((double) => double !== own && double.calls.length > 0);
      if (training) expect(body.output[0].generation_token_ids).toEqual(other?.calls[0]?.generationIds);
    },
  );

  it("spread sessions evenly", async () => {
    const doubles = [await engine(), await engine()];
    const server = await model(doubles);
    await Promise.all(Array.from({ length: 60 }, () => server.post("/v1/responses", ask, server.newJar())));
    for (const { count } of doubles) expect(count).toBeGreaterThan(15);
  });
});

describe("a training pause", () => {
  it("delays calls without failing them", async () => {
    const double = await engine();
    const server = await model(double);
    double.pause();
    const answers = Promise.all(Array.from({ length: 8 }, () => server.post("/v1/responses", ask)));
    setTimeout(() => double.resume(), 300);
    expect((await answers).map(({ status }) => status)).toEqual(Array(8).fill(200));
    double.fail(faults.hangUp(), faults.serverError(503));
    expect((await server.post("/v1/responses", ask)).status).toBe(200);
  });
});

describe("signals of a trainer", () => {
  it("reach every replica, ahead of waiting calls", async () => {
    const doubles = [await engine(), await engine()];
    const server = await model(doubles, { return_token_id_information: true });
    const { status, body } = await server.post("/pause?mode=keep", undefined);
    expect(status).toBe(200);
    expect(body.replicas.map((one: { status: number; body: unknown }) => [one.status, one.body])).toEqual([
      [200, { is_paused: true }],
      [200, { is_paused: true }],
    ]);
    const answers = Array.from({ length: 4 }, () => server.post("/v1/responses", ask, server.newJar()));
    await expect.poll(() => doubles.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect((await server.post("/resume", { tags: ["weights"] })).status).toBe(200);
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    for (const { requests } of doubles) {
      expect(requests[0]).toMatchObject({ method: "POST", path: "/pause?mode=keep", body: {} });
      expect(requests.find(({ path }) => path === "/resume")?.body).toEqual({ tags: ["weights"] });
    }
  });

  it("that an engine refuses or cannot receive are errors that name the engine", async () => {
    const double = await engine();
    const server = await model(double);
    const unknown = await server.post("/sleep", undefined);
    expect(unknown.status).toBe(502);
    expect(unknown.body.detail).toMatch(/^404 from 127.0.0.1:\d+\/sleep: /);
    await double.close();
    const gone = await server.post("/pause", undefined);
    expect(gone.status).toBe(502);
    expect(gone.body.detail).toMatch(/^no connection to 127.0.0.1/);
  });
});

it("waits at least half an hour for an engine in training", async () => {
  const double = await engine();
  const training = (config: Record<string, unknown>) =>
    model(double, { return_token_id_information: true, ...config });
  for (const key of ["request_timeout_seconds", "retry_seconds"]) {
    await expect(training({ [key]: 1_799 })).rejects.toThrow(/1799 is too short for training/);
    await training({ [key]: 1_800 });
    await training({ [key]: null });
    await model(double, { [key]: 1 });
  }
});

describe("completions", () => {
  const base = { use_completions_api: true, uses_reasoning_parser: false };

  it("send the text unchanged", async () => {
    const double = await engine({ answer: () => ({ text: " four o'clock." }) });
    const server = await model(double, { ...base, extra_body: { top_k: 3 } });
    const input = [
      { role: "system", content: "Timetable." },
      { role: "user", content: "The ferry leaves at" },
    ];
    const { body } = await server.post("/v1/responses", { input, max_output_tokens: 9, temperature: 0 });
    expect(body.output[0].content[0].text).toBe(" four o'clock.");
    expect(double.requests[0]).toMatchObject({
      path: "/v1/completions",
      body: { prompt: "Timetable.\n\nThe ferry leaves at", max_tokens: 9, temperature: 0, top_k: 3 },
    });
    expect(double.requests[0]?.body).not.toHaveProperty("messages");
    await server.post("/v1/chat/completions", {
      messages: input.slice(1),
      min_p: 0.2,
      chat_template_kwargs: {},
    });
    expect(double.requests[1]?.body).toMatchObject({ min_p: 0.2, top_k: 3 });
    expect(double.requests[1]?.body).not.toHaveProperty("chat_template_kwargs");
    const turns = [...input, { role: "assistant", content: "four" }];
    expect((await server.post("/v1/responses", { input: turns })).status).toBe(422);
  });

  it("contain token ids, with or without support of the engine", async () => {
    for (const returnsTokenIds of [true, false]) {
      const double = await engine({ returnsTokenIds });
      const server = await model(double, { ...base, return_token_id_information: true });
      const { body } = await server.post("/v1/responses", { input: "The ferry" });
      expect(body.output[0].prompt_token_ids).toEqual(double.calls[0]?.promptIds);
      expect(body.output[0].generation_token_ids).toEqual(double.calls[0]?.generationIds);
    }
  });

  it("apply the template of the engine or of a tokenizer", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gym-tokenizer-"));
    folders.push(folder);
    const chat_template =
      "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if shout %}!{% endif %}[assistant]";
    await writeFile(
      join(folder, "tokenizer_config.json"),
      JSON.stringify({ chat_template, bos_token: "<s>" }),
    );
    const double = await engine();
    const own = await model(double, { ...base, render_chat_template: true, tokenizer: folder });
    await own.post("/v1/responses", { input: "Hi", metadata: { chat_template_kwargs: '{"shout": true}' } });
    expect(double.requests[0]?.body["prompt"]).toBe("<s>[user] Hi\n![assistant]");
    const engines = await model(double, { ...base, render_chat_template: true });
    await engines.post("/v1/responses", {
      input: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Ho" },
      ],
    });
    const prompt = double.requests.at(-1)?.body["prompt"] as number[];
    expect(double.tokenizer.decode(prompt)).toBe(
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n<|im_start|>assistant\n",
    );
  });
});

it("writes a transport log without keys if the environment variable is set", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gym-transport-"));
  folders.push(folder);
  const file = join(folder, "deep", "log.jsonl");
  process.env["NEMO_GYM_VLLM_TRANSPORT_LOG"] = file;
  try {
    const double = await engine();
    const server = await model(double);
    await server.post("/v1/responses", ask);
    double.fail({ kind: "status", status: 400, message: "no" });
    await server.post("/v1/responses", ask);
    const text = await readFile(file, "utf8");
    const events = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(
      events.map(({ event, call_index, schema_version }) => [event, call_index, schema_version]),
    ).toEqual([
      ["transport_request", 1, 2],
      ["transport_response", 1, 2],
      ["transport_request", 2, 2],
      ["transport_error_response", 2, 2],
    ]);
    expect(text).not.toContain("key-of-the-engine");
    expect(events[0].configured_base_urls).toEqual([double.baseUrl]);
    // A failed write of the log does not fail the call.
    process.env["NEMO_GYM_VLLM_TRANSPORT_LOG"] = join(file, "below a file");
    expect((await (await model(double)).post("/v1/responses", ask)).status).toBe(200);
  } finally {
    delete process.env["NEMO_GYM_VLLM_TRANSPORT_LOG"];
  }
});
