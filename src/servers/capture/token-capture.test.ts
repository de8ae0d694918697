import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../base/python/json/json-object.ts";
import type { ChatCompletion } from "../../wire/schemas/chat-types.ts";
import type { Response, ResponseOutputItem } from "../../wire/schemas/responses.ts";
import { defineModel } from "../definitions/define-model.ts";
import { createTestServer } from "../hosting/test-server.ts";
import { TokenFileStore } from "./token-file-store.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-tokens-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const TOKENS = { prompt_token_ids: [1, 2], generation_token_ids: [3, 4], generation_log_probs: [-0.1, -0.2] };

const response = (carried: object): Response => ({
  id: "resp_1",
  created_at: 0,
  model: "m",
  object: "response",
  output: [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "hi", annotations: [] }],
      ...carried,
    } as ResponseOutputItem,
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
});

const completion: ChatCompletion = {
  id: "c",
  object: "chat.completion",
  created: 0,
  model: "m",
  choices: [
    {
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "hi", reasoning_content: "hm", ...TOKENS },
    },
  ],
};

const PREFIX = "/ng-rollout/0-0/training-token-capture";
const config = (more: JsonObject = {}) => ({ token_id_capture: { enabled: true, dir: directory, ...more } });

function start(respond: () => Promise<Response>, globalConfig: JsonObject = config()) {
  return createTestServer(defineModel({ responses: respond }), { globalConfig });
}

it("records the tokens of marked calls of all APIs", async () => {
  const server = await start(async () => response(TOKENS));
  await server.post("/ng-rollout/0-0/v1/responses", { input: "not for training" });
  expect(existsSync(join(directory, "0-0.tokens.jsonl"))).toBe(false);
  await server.post(`${PREFIX}/v1/responses`, { input: "q" });
  await server.post(`${PREFIX}/v1/messages`, {
    model: "c",
    max_tokens: 5,
    messages: [{ role: "user", content: "q" }],
    stream: true,
  });
  const { records, incomplete } = await new TokenFileStore(directory).freeze("0-0");
  expect(incomplete).toBe(false);
  expect(records).toHaveLength(2);
  expect(records[0]).toMatchObject({ ...TOKENS, rollout_id: "0-0", model: "m", token_item_index: 1 });
  expect(records[0]?.output_items[1]).not.toHaveProperty("prompt_token_ids");
  expect(records[0]?.output_items[1]).toMatchObject({ id: "msg_1" });
});

it("records chat backends as items", async () => {
  const server = await createTestServer(defineModel({ chat: async () => completion }), {
    globalConfig: config(),
  });
  await server.post(`${PREFIX}/v1/chat/completions`, { messages: [{ role: "user", content: "q" }] });
  const { records } = await new TokenFileStore(directory).freeze("0-0");
  expect(records[0]).toMatchObject({
    ...TOKENS,
    token_item_index: 1,
    output_items: [{ type: "reasoning" }, { type: "message" }],
  });
});

it("marks rollouts whose tokens are missing or partial", async () => {
  for (const carried of [{}, { prompt_token_ids: [1], generation_token_ids: [2] }]) {
    const server = await start(async () => response(carried));
    expect((await server.post(`${PREFIX}/v1/messages`, message)).status).toBe(200);
    const store = new TokenFileStore(directory);
    expect(await store.freeze("0-0")).toMatchObject({ incomplete: true, records: [] });
    await store.clear("0-0");
  }
});

const message = { model: "c", max_tokens: 5, messages: [{ role: "user", content: "q" }] };

it("leaves a failed call announced without a record", async () => {
  const server = await start(() => Promise.reject(new Error("down")));
  expect((await server.post(`${PREFIX}/v1/responses`, { input: "q" })).status).toBe(500);
  expect(await new TokenFileStore(directory).freeze("0-0")).toMatchObject({
    incomplete: true,
    calls: [undefined],
  });
});

it("answers even if nothing can be written", async () => {
  const server = await start(async () => response(TOKENS));
  mkdirSync(join(directory, "0-0.tokens.jsonl"));
  expect((await server.post(`${PREFIX}/v1/responses`, { input: "q" })).status).toBe(200);
  expect(readFileSync(join(directory, "0-0.tokens.incomplete"), "utf8")).toMatch(/^[0-9a-f]{32}\n$/);
  rmSync(directory, { recursive: true });
  expect((await server.post(`${PREFIX}/v1/responses`, { input: "q" })).status).toBe(200);
});

it("uses the same call id as the record of the call", async () => {
  const server = await start(async () => response(TOKENS), {
    ...config(),
    observability_enabled: true,
    model_call_capture_dir: directory,
  });
  await server.post(`${PREFIX}/v1/responses`, { input: "q" });
  const line = JSON.parse(readFileSync(join(directory, "0-0.capture.jsonl"), "utf8")) as JsonObject;
  const { records } = await new TokenFileStore(directory).freeze("0-0");
  expect(records[0]?.model_call_id).toBe(line["model_call_id"]);
});

it("passes records to a sink of the user", async () => {
  const sink = join(directory, "sink.mjs");
  writeFileSync(
    sink,
    `import { appendFileSync } from "node:fs";
     export class Sink {
       constructor({ file }) { this.file = file; }
       async put(record) { appendFileSync(this.file, record.model_call_id + "\\n"); }
       async markIncomplete() {}
     }`,
  );
  const file = join(directory, "got.txt");
  const globalConfig = { token_id_capture: { enabled: true, sink: `${sink}:Sink`, sink_kwargs: { file } } };
  const server = await start(async () => response(TOKENS), globalConfig);
  await server.post(`${PREFIX}/v1/responses`, { input: "q" });
  expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{32}\n$/);
  const missing = { token_id_capture: { enabled: true, sink: `${sink}:Other` } };
  await expect(start(async () => response(TOKENS), missing)).rejects.toThrow(
    /exports no class 'Other'.*Sink/,
  );
  const absent = { token_id_capture: { enabled: true, sink: "/nowhere.mjs:Sink" } };
  await expect(start(async () => response(TOKENS), absent)).rejects.toMatchObject({ code: "CAPTURE_CONFIG" });
});
