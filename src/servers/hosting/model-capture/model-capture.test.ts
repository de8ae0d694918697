import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import type { Response } from "../../../wire/schemas/responses.ts";
import { defineModel } from "../../definitions/define-model.ts";
import { ProviderError } from "../../model-endpoint/provider-error.ts";
import { MalformedBody } from "../body.ts";
import { createTestServer } from "../test-server.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-capture-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const answer = (text: string): Response => ({
  id: "resp_1",
  created_at: 0,
  model: "m",
  object: "response",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  usage: {
    input_tokens: 3,
    output_tokens: 2,
    total_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
});

function start(
  respond: () => Promise<Response> = async () => answer("hello"),
  globalConfig: JsonObject = { observability_enabled: true, model_call_capture_dir: directory },
) {
  return createTestServer(defineModel({ responses: respond }), { name: "policy_model", globalConfig });
}

const lines = (id: string): JsonObject[] =>
  readFileSync(join(directory, `${id}.capture.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);

it("records every prefixed call of the three endpoints, and only those", async () => {
  const server = await start();
  await server.post("/v1/responses", { input: "unattributed" });
  expect(existsSync(join(directory, "0-0.capture.jsonl"))).toBe(false);
  await server.post("/ng-rollout/0-0/v1/responses", { input: "q" });
  await server.post("/ng-rollout/0-0/v1/chat/completions", { messages: [{ role: "user", content: "q" }] });
  await server.post("/ng-rollout/0-0/training-token-capture/v1/messages", {
    model: "claude",
    max_tokens: 5,
    messages: [{ role: "user", content: "q" }],
  });
  const records = lines("0-0");
  expect(records.map((record) => record["dialect"])).toEqual(["responses", "chat", "messages"]);
  const [first] = records;
  expect(Object.keys(first ?? {})).toEqual([
    "model_call_id",
    "dialect",
    "model_ref",
    "started_at",
    "completed_at",
    "latency_ms",
    "latency_ttft_ms",
    "status_code",
    "error_category",
    "request",
    "response",
  ]);
  expect(first).toMatchObject({
    model_ref: { type: "responses_api_models", name: "policy_model" },
    status_code: 200,
    error_category: null,
    request: { input: "q" },
    response: { id: "resp_1", output: [{ content: [{ text: "hello" }] }] },
  });
  expect(first?.["model_call_id"]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(records.map((record) => record["model_call_id"])).size).toBe(3);
});

it("assembles streams and keeps their text", async () => {
  const server = await start();
  const { text } = await server.post("/ng-rollout/0-1/v1/responses", { input: "q", stream: true });
  const [record] = lines("0-1");
  expect(record).toMatchObject({ status_code: 200, error_category: null, response: { id: "resp_1" } });
  expect(record?.["response_raw"]).toBe(text);
  await server.post("/ng-rollout/0-1/v1/chat/completions", {
    messages: [{ role: "user", content: "q" }],
    stream: true,
  });
  expect(lines("0-1")[1]).toMatchObject({
    error_category: null,
    response: { choices: [{ message: { content: "hello" }, finish_reason: "stop" }] },
  });
});

it("assigns a category to each failure", async () => {
  const failures: [unknown, number, string][] = [
    [
      new ProviderError({
        class: "provider_auth",
        providerStatus: 401,
        retryable: false,
        message: "401 from api: no",
      }),
      401,
      "auth",
    ],
    [
      new ProviderError({ class: "provider_rate_limit", providerStatus: 429, retryable: true, message: "x" }),
      429,
      "rate_limit",
    ],
    [new ProviderError({ class: "timeout", retryable: true, message: "x" }), 504, "timeout"],
    [new ProviderError({ class: "connection", retryable: true, message: "x" }), 502, "connection"],
    [
      new ProviderError({ class: "provider_error", providerStatus: 404, retryable: false, message: "x" }),
      404,
      "not_found",
    ],
    [
      new ProviderError({ class: "provider_error", providerStatus: 503, retryable: true, message: "x" }),
      503,
      "upstream_error",
    ],
    [new TypeError("surprise"), 500, "exception"],
  ];
  for (const [index, [error, status, category]] of failures.entries()) {
    const server = await start(() => Promise.reject(error));
    const reply = await server.post(`/ng-rollout/1-${index}/v1/responses`, { input: "q" });
    expect(reply.status).toBe(status);
    expect(lines(`1-${index}`)).toMatchObject([{ status_code: status, error_category: category }]);
  }
  const server = await start();
  expect((await server.post("/ng-rollout/1-9/v1/responses", { input: "q", nonsense: 1 })).status).toBe(422);
  expect(lines("1-9")).toMatchObject([{ status_code: 422, error_category: "client_error" }]);
});

it("keeps the text of bodies that are not JSON objects", async () => {
  const server = await start();
  const detail = { type: "json_invalid", loc: ["body", 0], msg: "no JSON", input: {} };
  const reply = await server.app.handle({
    method: "POST",
    path: "/ng-rollout/1-8/v1/responses",
    body: new MalformedBody("{oops", detail),
    cookies: {},
    headers: {},
    signal: new AbortController().signal,
  });
  expect(reply).toMatchObject({ status: 422, body: { detail: [detail] } });
  await server.post("/ng-rollout/1-8/v1/responses", ["a list"]);
  expect(lines("1-8")).toMatchObject([
    { status_code: 422, error_category: "client_error", request: null, request_raw: "{oops" },
    { status_code: 422, request: null, request_raw: '["a list"]' },
  ]);
});

it("records a rejected stream with the status of the refusal", async () => {
  const refusal = new ProviderError({
    class: "provider_rate_limit",
    providerStatus: 429,
    retryable: true,
    message: "429 from api: slower",
  });
  const cases: [Error, number, string][] = [
    [refusal, 429, "rate_limit"],
    [new Error("backend fell over"), 500, "exception"],
  ];
  for (const [index, [error, status, category]] of cases.entries()) {
    const server = await start(() => Promise.reject(error));
    const reply = await server.post(`/ng-rollout/2-${index}/v1/responses`, { input: "q", stream: true });
    expect(reply.status).toBe(status);
    expect(lines(`2-${index}`)).toMatchObject([{ status_code: status, error_category: category }]);
  }
});

it("records a stream that ends with a failure although its status is 200", async () => {
  const error = { code: "server_error" as const, message: "backend fell over" };
  const server = await start(async () => ({ ...answer("hel"), status: "failed", error }));
  const reply = await server.post("/ng-rollout/2-9/v1/responses", { input: "q", stream: true });
  expect(reply.status).toBe(200);
  expect(reply.text).toContain("event: response.failed");
  expect(reply.text).not.toContain("response.completed");
  expect(lines("2-9")).toMatchObject([
    { status_code: 200, error_category: "upstream_error", response: { status: "failed", error } },
  ]);
});

it("marks a rollout whose record cannot be written and still answers", async () => {
  const server = await start();
  mkdirSync(join(directory, "3-0.capture.jsonl"));
  const reply = await server.post("/ng-rollout/3-0/v1/responses", { input: "q" });
  expect(reply).toMatchObject({ status: 200, body: { id: "resp_1" } });
  expect(existsSync(join(directory, "3-0.capture.incomplete"))).toBe(true);
});

it("continues after its directory was removed", async () => {
  const server = await start();
  rmSync(directory, { recursive: true });
  expect((await server.post("/ng-rollout/3-1/v1/responses", { input: "q" })).status).toBe(200);
});

it("terminates an incomplete line of a killed writer", async () => {
  writeFileSync(join(directory, "4-0.capture.jsonl"), '{"model_call_id":"torn');
  const server = await start();
  await server.post("/ng-rollout/4-0/v1/responses", { input: "q" });
  const [torn, whole] = readFileSync(join(directory, "4-0.capture.jsonl"), "utf8").trimEnd().split("\n");
  expect(torn).toBe('{"model_call_id":"torn');
  expect(JSON.parse(whole ?? "")).toMatchObject({ status_code: 200 });
});

it("masks secrets of the config in the files", async () => {
  const server = await start(() => Promise.resolve(answer("your key is sk-very-secret-1")), {
    observability_enabled: true,
    model_call_capture_dir: directory,
    policy_api_key: "sk-very-secret-1",
  });
  const reply = await server.post("/ng-rollout/5-0/v1/responses", { input: "sk-very-secret-1?" });
  expect(reply.text).toContain("sk-very-secret-1");
  expect(readFileSync(join(directory, "5-0.capture.jsonl"), "utf8")).not.toContain("secret");
});

it("writes nothing for invalid rollout ids", async () => {
  const server = await start();
  expect((await server.post("/ng-rollout/..%2Fevil/v1/responses", { input: "q" })).status).toBe(200);
  expect((await server.post("/ng-rollout/../v1/responses", { input: "q" })).status).toBe(200);
  expect(existsSync(join(directory, "..", "evil.capture.jsonl"))).toBe(false);
});

it("rejects an observed run without an absolute directory", async () => {
  const config = (dir?: string) => ({
    observability_enabled: true,
    ...(dir !== undefined && { model_call_capture_dir: dir }),
  });
  await expect(start(undefined, config())).rejects.toThrow(/model_call_capture_dir.*missing/s);
  await expect(start(undefined, config("captures"))).rejects.toThrow(/it is 'captures'/);
  await expect(start(undefined, { observability_enabled: "perhaps" })).rejects.toMatchObject({
    code: "CAPTURE_CONFIG",
  });
  await expect(start(undefined, config("/dev/null/captures"))).rejects.toThrow(/cannot be used/);
});
