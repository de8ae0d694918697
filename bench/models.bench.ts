import { Pool } from "undici";
import inferenceProvider from "../responses_api_models/inference_provider/app.ts";
import openaiModel from "../responses_api_models/openai_model/app.ts";
import type { ServerApp } from "../src/servers/hosting/app.ts";
import { convertChatCompletion } from "../src/wire/convert/convert-chat-to-responses.ts";
import { convertResponsesToChat } from "../src/wire/convert/convert-responses-to-chat.ts";
import { materializeResponse } from "../src/wire/schemas/materialize.ts";
import { parseCreateParams, parseResponse } from "../src/wire/schemas/responses.ts";
import { parseChatCompletion } from "../src/wire/schemas/validate-completion.ts";
import { withModelEndpoint } from "./model-endpoint.ts";
import { startModelServer } from "./model-server.ts";
import { cpuMsOf, type Report } from "./report.ts";

export const name = "models";

const CALLS = 3_000;
const AT_ONCE = 16;
const ROUNDS = 6;
const PROXY_BUDGET_MICROSECONDS = 150;
const MANY = 1_000;
const SLOW_MS = 2_000;
const ALLOWED_OVER_IDEAL = 1.05;

const words = (count: number) => "the ferry leaves the harbour at five past four ".repeat(count);
const tool = {
  type: "function",
  name: "find_ferry",
  parameters: { type: "object", properties: {} },
  strict: true,
};
const request = {
  model: "m",
  input: [
    { role: "system", content: words(10) },
    { role: "user", content: words(10) },
    { type: "function_call", call_id: "call_1", name: "find_ferry", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: words(10) },
  ],
  tools: [tool],
};
const response = {
  id: "resp_1",
  created_at: 1,
  model: "m",
  object: "response",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: words(20), annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [tool],
  usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 },
};
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: words(20) } }],
  usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
};

/** The cost of a model server between an agent and a model. */
export async function run(report: Report): Promise<void> {
  await withModelEndpoint({ response, completion }, (origin) => measure(report, origin));
}

async function measure(report: Report, origin: string): Promise<void> {
  const native = await startModelServer(openaiModel, {
    openai_base_url: `${origin}/0/v1`,
    openai_api_key: "k",
    openai_model: "m",
  });
  const converted = await startModelServer(inferenceProvider, {
    base_url: `${origin}/0/v1`,
    api_key: "k",
    model: "m",
  });
  const pool = new Pool(origin, { connections: AT_ONCE });
  const bare = (path: string) => send(pool, `/0/v1${path}`);
  // Parsing costs more between requests than in a separate loop, so it is measured between requests.
  const costs = await calls(report, [
    ["one bare request over a pooled connection", async () => void (await bare("/responses"))],
    [
      "the same, and everything of a Responses call parsed",
      async () => parseResponsesCall(await bare("/responses")),
    ],
    [
      "the same, and everything of a chat call parsed and converted",
      async () => parseChatCall(await bare("/chat")),
    ],
    ["openai_model: a whole call", caller(native)],
    ["inference_provider: a whole call", caller(converted)],
  ]);
  await pool.destroy();
  const [wire = 0, withResponses = 0, withChat = 0, responses = 0, chat = 0] = costs;
  for (const [label, total, parsed] of [
    ["openai_model", responses, withResponses],
    ["inference_provider", chat, withChat],
  ] as const) {
    const parsing = parsed - wire;
    const added = total - parsing;
    report.check(
      `${label} adds ${added.toFixed(0)} µs CPU per call to ${parsing.toFixed(0)} µs of parsing, the request itself (${wire.toFixed(0)} µs) included (budget ${PROXY_BUDGET_MICROSECONDS})`,
      added <= PROXY_BUDGET_MICROSECONDS,
    );
  }
  await manySlowCalls(report, origin);
}

/** Both alternate, so that other work on the machine affects both. */
async function manySlowCalls(report: Report, origin: string): Promise<void> {
  const slow = await startModelServer(openaiModel, {
    openai_base_url: `${origin}/${SLOW_MS}/v1`,
    openai_api_key: "k",
    openai_model: "m",
  });
  const pool = new Pool(origin, { connections: MANY });
  const all = async (call: () => Promise<unknown>) => {
    const started = performance.now();
    await Promise.all(Array.from({ length: MANY }, call));
    return (performance.now() - started) / 1000;
  };
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const bare = await all(() => send(pool, `/${SLOW_MS}/v1/responses`));
    const ours = await all(caller(slow));
    // The first round opens the connections.
    if (round === 0) continue;
    times.bare.push(bare);
    times.ours.push(ours);
  }
  await pool.destroy();
  const [ideal, best] = [Math.min(...times.bare), Math.min(...times.ours)];
  report.check(
    `${MANY} concurrent calls of ${SLOW_MS / 1000} s take ${best.toFixed(2)} s; bare requests take ${ideal.toFixed(2)} s (allowed ${ALLOWED_OVER_IDEAL} times that)`,
    best <= ideal * ALLOWED_OVER_IDEAL,
  );
}

async function send(pool: Pool, path: string): Promise<string> {
  const reply = await pool.request({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  return reply.body.text();
}

const headers = {};

/** Calls like an agent in the middle of a rollout: with the cookie of the previous turn. */
function caller(app: ServerApp): () => Promise<void> {
  let cookies = {};
  return async () => {
    const reply = await app.handle({
      method: "POST",
      path: "/v1/responses",
      body: request,
      cookies,
      headers,
      signal: new AbortController().signal,
    });
    if (reply.status !== 200)
      throw new Error(`the model server answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    cookies = reply.cookies;
  };
}

function parseResponsesCall(text: string): void {
  parseCreateParams(request);
  materializeResponse(parseResponse(JSON.parse(text)));
}

function parseChatCall(text: string): void {
  const params = { ...parseCreateParams(request), model: "m" };
  convertResponsesToChat(params);
  materializeResponse(convertChatCompletion(parseChatCompletion(JSON.parse(text)), params));
}

/** CPU microseconds of each kind of call: they alternate, and the minimum over the rounds counts. */
async function calls(
  report: Report,
  kinds: readonly [label: string, call: () => Promise<void>][],
): Promise<number[]> {
  const least = kinds.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, [, call]] of kinds.entries())
      least[index] = Math.min(least[index] ?? 0, await cpuPerCall(call));
  }
  for (const [index, [label]] of kinds.entries()) {
    report.add({ label, cpuMs: (least[index] ?? 0) / 1000, operations: CALLS * (ROUNDS + 1) });
  }
  return least;
}

async function cpuPerCall(call: () => Promise<void>): Promise<number> {
  let left = CALLS;
  const worker = async () => {
    while (left-- > 0) await call();
  };
  const cpuMs = await cpuMsOf(() => Promise.all(Array.from({ length: AT_ONCE }, worker)));
  return (cpuMs * 1000) / CALLS;
}
