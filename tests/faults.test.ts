import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, expect, it } from "vitest";
import { evaluate } from "../src/rollouts/evaluate.ts";
import type { RunningServers } from "../src/server/run/run-servers.ts";
import { freePort, instance, startInstances } from "./support/run-instances.ts";

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

/** A model that calls the tools named in the question, one a turn, and then says done. */
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

it("gives the model the error of a tool that throws, and keeps the session", async () => {
  const { servers } = await start();
  const reply = await servers.client.post("agent", "/run", row("count boom count"));
  const body = reply.json() as { reward: number; response: { output: { type: string; output?: string }[] } };
  const outputs = body.response.output
    .filter((item) => item.type === "function_call_output")
    .map((item) => item.output);
  expect(outputs).toEqual(['{"calls":1}', "\"TypeError('tool is broken')\"", '{"calls":3}']);
  expect(body.reward).toBe(3);
});

it("answers a model that calls something that is no tool, without letting it near the verifier", async () => {
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

it("ends a rollout whose tool hangs as a timeout that names the tool, and writes it to the failures", async () => {
  const { servers, root } = await start({ tool_call_timeout_seconds: 0.2 });
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
    message: "tools /hang did not answer within 200 ms",
  });
  expect(failure["mask_sample"]).toBe(true);
  expect(failure["reward"]).toBeUndefined();
});

it("names the stage when the rollout's own deadline passes", async () => {
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
    "the rollout took longer than 0.3 s; it was in stage tool (hang)",
  );
});

it("takes a body of 50 MB and refuses one beyond the limit with 413", async () => {
  const { servers } = await start();
  const url = servers.client.baseUrl("tools");
  const body = JSON.stringify({ filler: "x".repeat(50 * 1024 * 1024) });
  const taken = await request(`${url}/seed_session`, { method: "POST", body });
  expect(taken.statusCode).toBe(200);
  await taken.body.dump();
  const refused = await request(`${url}/seed_session`, {
    method: "POST",
    body: "x".repeat(129 * 1024 * 1024),
  }).catch((error: Error & { code?: string }) => error);
  // The server answers before it has read everything; a client that is still sending may only see the closed socket.
  if (refused instanceof Error) expect(refused.code).toMatch(/UND_ERR_SOCKET|EPIPE|ECONNRESET/);
  else expect(refused.statusCode).toBe(413);
});

it("says which server did not answer, and does not send a tool call twice", async () => {
  const { servers } = await start({ hosting: "process" });
  let calls = 0;
  const port = await freePort();
  const flaky = createServer((_request, response) => {
    calls++;
    response.destroy();
  });
  await new Promise<void>((resolve) => flaky.listen(port, "127.0.0.1", () => resolve()));
  const { RunClient } = await import("../src/client/run-client.ts");
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
