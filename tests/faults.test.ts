import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { type EndpointFault, faults } from "../src/testing/endpoint-server.ts";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { evaluate } from "./support/evaluate.ts";
import { freePort } from "./support/free-port.ts";
import { instance, startInstances } from "./support/run-instances.ts";

const running: RunningServers[] = [];
const scratch: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.close()));
  for (const directory of scratch.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "nemo-gym-faults-"));
  scratch.push(directory);
  return directory;
}

const FAULTY_TOOLS = `
import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({
  session: () => ({ calls: 0 }),
  tools: {
    hang: { run: () => new Promise(() => {}) },
    boom: { run({ session }) { session.calls++; throw new TypeError("tool is broken"); } },
    count: { run: ({ session }) => ({ calls: ++session.calls }) },
  },
  verify: ({ session }) => ({ reward: session.calls }),
});
`;

/** A model that calls the tools named in the question, one per turn, and then says done. */
const SCRIPTED_MODEL = `
import { defineModel } from "nemo-gym";
export default defineModel({
  async responses({ params }) {
    const names = params.input[0].content.split(" ");
    const turn = params.input.filter((item) => item.type === "function_call").length;
    const name = names[turn];
    const id = "item_" + turn;
    const output = name
      ? [{ type: "function_call", id, call_id: id, name, arguments: "{}", status: "completed" }]
      : [{ type: "message", id, role: "assistant", status: "completed", content: [{ type: "output_text", text: "done", annotations: [] }] }];
    return { id: "resp", created_at: 0, model: "scripted", object: "response", output, parallel_tool_calls: true, tool_choice: "auto", tools: [] };
  },
});
`;

async function start(globalConfig: Record<string, unknown> = {}) {
  const root = temporaryDirectory();
  for (const [folder, text] of [
    ["resources_servers/faulty", FAULTY_TOOLS],
    ["responses_api_models/scripted", SCRIPTED_MODEL],
  ] as const) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "app.ts"), text);
  }
  const { servers, events } = await startInstances(
    [
      await instance("tools", "resources_servers", "faulty", {}, [root]),
      await instance("model", "responses_api_models", "scripted", {}, [root]),
      await instance("agent", "responses_api_agents", "simple_agent", {
        resources_server: { type: "resources_servers", name: "tools" },
        model_server: { type: "responses_api_models", name: "model" },
      }),
    ],
    globalConfig,
  );
  running.push(servers);
  return { servers, events, root };
}

const row = (question: string) => ({ responses_create_params: { input: question } });

const modes: [string, Record<string, unknown>][] = [
  ["co-hosted", {}],
  ["a process per server", { hosting: "process" }],
];

it.each(modes)(
  "gives the model the error of a tool that throws, and keeps the session: %s",
  async (_, config) => {
    const { servers } = await start(config);
    const reply = await servers.client.post("agent", "/run", row("count boom count"));
    const body = reply.json() as {
      reward: number;
      response: { output: { type: string; output?: string }[] };
    };
    const outputs = body.response.output
      .filter((item) => item.type === "function_call_output")
      .map((item) => item.output);
    expect(outputs).toEqual(['{"calls":1}', "\"TypeError('tool is broken')\"", '{"calls":3}']);
    expect(body.reward).toBe(3);
  },
);

it("answers calls of unknown tools without calling the verifier", async () => {
  const { servers } = await start();
  const reply = await servers.client.post("agent", "/run", row("count seed_session verify ../count count"));
  const body = reply.json() as { reward: number; response: { output: { type: string; output?: string }[] } };
  const outputs = body.response.output
    .filter((item) => item.type === "function_call_output")
    .map((item) => item.output);
  const missing = '{"detail":"Not Found"}';
  expect(outputs).toEqual(['{"calls":1}', missing, missing, missing, '{"calls":2}']);
  expect(body.reward).toBe(2);
});

it.each(modes)("fails a rollout whose tool hangs with a timeout naming the tool: %s", async (_, config) => {
  const { servers, root } = await start({ tool_call_timeout_seconds: 0.2, ...config });
  const input = join(root, "in.jsonl");
  writeFileSync(input, `${JSON.stringify(row("count hang"))}\n${JSON.stringify(row("count"))}\n`);
  const { result, summary, paths } = await evaluate({
    client: servers.client,
    output: join(root, "out", "rollouts.jsonl"),
    expand: { inputPath: input, agentName: "agent" },
    limits: { concurrency: 2, maxAttempts: 1, rolloutTimeoutMs: 60_000, runTimeoutMs: null },
    config: {},
    gymVersion: "test",
  });
  expect(result).toMatchObject({ completed: 1, failed: 1, cancelled: 0 });
  expect(summary?.coverage).toEqual({ expected: 2, ok: 1, masked: 0, failed: 1, missing: 0 });
  const failure = JSON.parse(readFileSync(paths.failures, "utf8")) as Record<string, unknown>;
  expect(failure["_ng_failure"]).toEqual({
    class: "timeout",
    stage: "tool",
    retryable: true,
    message: "tools /hang did not answer within 0.2 s (tool_call_timeout_seconds)",
  });
  expect(failure["mask_sample"]).toBe(true);
  expect(failure["reward"]).toBeUndefined();
});

it("names the stage when the deadline of the rollout expires", async () => {
  const { servers, root } = await start();
  const input = join(root, "in.jsonl");
  writeFileSync(input, `${JSON.stringify(row("hang"))}\n`);
  const { result, paths } = await evaluate({
    client: servers.client,
    output: join(root, "out", "rollouts.jsonl"),
    expand: { inputPath: input, agentName: "agent" },
    limits: { concurrency: 2, maxAttempts: 1, rolloutTimeoutMs: 300, runTimeoutMs: null },
    config: {},
    gymVersion: "test",
  });
  expect(result.failed).toBe(1);
  expect(readFileSync(paths.failures, "utf8")).toContain(
    "the rollout took longer than 0.3 s (rollout_timeout_seconds); it was in stage tool (hang)",
  );
});

it.each(modes)("accepts a body of 50 MB and rejects one beyond the limit with 413: %s", async (_, config) => {
  const { servers } = await start(config);
  const url = servers.client.baseUrl("tools");
  const body = JSON.stringify({ filler: "x".repeat(50 * 1024 * 1024) });
  const taken = await request(`${url}/seed_session`, { method: "POST", body });
  expect(taken.statusCode).toBe(200);
  await taken.body.dump();
  const rejected = await request(`${url}/seed_session`, {
    method: "POST",
    body: "x".repeat(129 * 1024 * 1024),
  }).catch((error: Error & { code?: string }) => error);
  // The server responds before it has read everything; a client that is still sending may only see the closed socket.
  if (rejected instanceof Error) expect(rejected.code).toMatch(/UND_ERR_SOCKET|EPIPE|ECONNRESET/);
  else expect(rejected.statusCode).toBe(413);
});

it.each(modes)("rejects invalid JSON with its position, and continues: %s", async (_, config) => {
  const { servers } = await start(config);
  const url = servers.client.baseUrl("tools");
  const reply = await request(`${url}/count`, { method: "POST", body: '{"a": 1,, }' });
  expect(reply.statusCode).toBe(422);
  expect(await reply.body.json()).toMatchObject({ detail: [{ type: "json_invalid", loc: ["body", 8] }] });
  expect((await servers.client.post("tools", "/seed_session", {})).status).toBe(200);
});

it("fails the rollouts of a server that is killed with -9, names the server and ends the run", async () => {
  const { servers } = await start({ hosting: "process" });
  const hanging = servers.client.post("agent", "/run", row("hang"), { timeoutMs: 60_000 });
  hanging.catch(() => {});
  const record = servers.instances.find(({ process_name }) => process_name === "tools");
  process.kill(record?.pid ?? 0, "SIGKILL");
  await expect(servers.crashed).rejects.toThrow("Server 'tools' was killed by SIGKILL");
  const reply = await hanging;
  expect(reply.status).toBe(502);
  expect(reply.json()).toMatchObject({
    error: { class: "connection", retryable: true, message: expect.stringMatching(/^tools at http/) },
  });
});

describe.each(modes)("a provider (%s)", (_mode, hosting) => {
  const KEY = "sk-test-0123456789abcdef";

  async function ask(fault: EndpointFault | undefined, options: { apiKey?: string; forEver?: boolean } = {}) {
    const endpoint = await new MockModelEndpoint({
      apiKey: KEY,
      answer: () => ({ text: "done" }),
      ...(options.forEver && fault && { faultFor: () => fault }),
    }).start();
    onTestFinished(() => endpoint.close());
    if (fault && !options.forEver) endpoint.fail(fault);
    const { servers } = await startInstances(
      [
        await instance("weather", "resources_servers", "example_single_tool_call"),
        await instance("model", "responses_api_models", "openai_model", {
          openai_base_url: endpoint.baseUrl,
          openai_api_key: options.apiKey ?? KEY,
          openai_model: "m",
          retry_attempts: 3,
          retry_first_pause_seconds: 0.01,
          request_timeout_seconds: 0.5,
        }),
        await instance("agent", "responses_api_agents", "simple_agent", {
          resources_server: { type: "resources_servers", name: "weather" },
          model_server: { type: "responses_api_models", name: "model" },
        }),
      ],
      hosting,
    );
    running.push(servers);
    const reply = await servers.client.post("agent", "/run", row("hello"), { timeoutMs: 30_000 });
    return { status: reply.status, body: reply.json() as Record<string, unknown>, asked: endpoint.count };
  }

  it("that rejects the key is called once, and its message is shown", async () => {
    const { status, body, asked } = await ask(undefined, { apiKey: "sk-wrong-key-000000" });
    expect([status, asked]).toEqual([401, 1]);
    expect(body).toMatchObject({ error: { class: "provider_auth", stage: "model", retryable: false } });
    expect(body["detail"]).toMatch(/^401 from 127\.0\.0\.1:\d+: Incorrect API key/);
  });

  it.each([
    ["sends Retry-After", faults.rateLimited(1)],
    ["fails once", faults.serverError(500)],
    ["returns an invalid answer once", faults.garbage()],
    ["hangs up once", faults.hangUp()],
  ])("that %s is called again", async (_title, fault) => {
    const started = performance.now();
    const { status, asked } = await ask(fault);
    expect([status, asked]).toEqual([200, 2]);
    if (fault.kind === "status" && fault.status === 429)
      expect(performance.now() - started).toBeGreaterThan(1_000);
  });

  it.each([
    ["always fails", faults.serverError(500), 500, /^500 from .*gave up after 3 attempts/],
    ["always returns invalid answers", faults.garbage(), 502, /gave up after 3 attempts/],
    ["never answers", faults.silence(), 504, /gave up after 3 attempts/],
  ])(
    "that %s fails the rollout within the budget, with the cause",
    async (_title, fault, status, message) => {
      const reply = await ask(fault, { forEver: true });
      expect([reply.status, reply.asked]).toEqual([status, 3]);
      expect(reply.body["detail"]).toMatch(message);
      expect(reply.body).toMatchObject({ error: { stage: "model", retryable: true } });
    },
  );
});

it("names the server that did not answer, and does not repeat a tool call", async () => {
  const { servers } = await start({ hosting: "process" });
  let calls = 0;
  const port = await freePort();
  const flaky = createServer((_request, response) => {
    calls++;
    response.destroy();
  });
  await new Promise<void>((resolve) => flaky.listen(port, "127.0.0.1", () => resolve()));
  const { RunClient } = await import("../src/servers/calls/run-client.ts");
  const client = new RunClient({ addresses: new Map([["flaky", `http://127.0.0.1:${port}`]]) });
  await expect(client.post("flaky", "/pay", {})).rejects.toThrow(
    /flaky at http:\/\/127.0.0.1:\d+ did not answer \/pay/,
  );
  expect(calls).toBe(1);
  const retry = { attempts: 3, wallClockMs: 5_000, baseDelayMs: 1, maxDelayMs: 2 };
  const patient = new RunClient({ addresses: new Map([["flaky", `http://127.0.0.1:${port}`]]), retry });
  await expect(patient.post("flaky", "/verify", {}, { idempotent: true })).rejects.toThrow("(3 attempts)");
  expect(calls).toBe(4);
  await Promise.all([client.close(), patient.close()]);
  flaky.close();
  expect(servers.instances.length).toBe(3);
});
