import { afterEach, describe, expect, it } from "vitest";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { project, runGym } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";
import { instance, startInstances } from "./support/run-instances.ts";

const running: RunningServers[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.close()));
});

const tools = (verifyIn: "loop" | "pool") => `
import { defineResourcesServer } from "nemo-gym";
function spin() {
  for (;;) Math.sqrt(2);
}
export default defineResourcesServer({
  tools: {
    ping: { run: () => ({ pong: true }) },
    leave: { run: () => process.exit(3) },
    leave_later: {
      run() {
        setTimeout(() => process.exit(4), 5);
        return { accepted: true };
      },
    },
    spin: { run: () => spin() },
  },
  verifyIn: "${verifyIn}",
  verify({ response }) {
    const text = JSON.stringify(response.output);
    if (text.includes("verifier leaves")) process.exit(5);
    if (text.includes("verifier spins")) spin();
    return { reward: 1 };
  },
});
`;

const verifyBody = (text: string) => ({
  responses_create_params: { input: "hello" },
  response: {
    id: "resp",
    created_at: 0,
    model: "m",
    object: "response",
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    output: [
      {
        type: "message",
        id: "msg",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
  },
});

async function startTools(
  globalConfig: Record<string, unknown>,
  config: Record<string, unknown>,
  verifyIn: "loop" | "pool" = "loop",
) {
  const root = await project({ "resources_servers/unruly/app.ts": tools(verifyIn) });
  const { servers } = await startInstances(
    [await instance("my_tools", "resources_servers", "unruly", config, [root])],
    globalConfig,
  );
  running.push(servers);
  return servers.client;
}

const modes: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["co-hosted", {}, {}],
  ["a process per server", { hosting: "process" }, {}],
  ["several workers", {}, { num_workers: 2 }],
];

describe.each(modes)("process.exit in a server, %s", (_mode, globalConfig, config) => {
  it("fails only the call that caused it, and names the server", async () => {
    const client = await startTools(globalConfig, config);
    const tool = await client.post("my_tools", "/leave", {});
    expect(tool.status).toBe(500);
    expect(tool.text()).toContain("Server 'my_tools' called process.exit(3)");
    const verified = await client.post("my_tools", "/verify", verifyBody("verifier leaves"));
    expect([verified.status, verified.text()]).toEqual([
      500,
      expect.stringContaining("Server 'my_tools' called process.exit(5)"),
    ]);
    expect((await client.post("my_tools", "/ping", {})).json()).toEqual({ pong: true });
  });
});

describe("a verifier in a pool", () => {
  it("that ends its thread fails that call", async () => {
    const client = await startTools({}, {}, "pool");
    const left = await client.post("my_tools", "/verify", verifyBody("verifier leaves"));
    expect(left.status).toBe(500);
    expect(left.text()).toContain("process.exit");
    expect((await client.post("my_tools", "/verify", verifyBody("fine"))).json()).toMatchObject({
      reward: 1,
    });
  });

  it("that never ends is stopped at its caller's deadline, and does not block others", async () => {
    const client = await startTools({}, {}, "pool");
    for (let i = 0; i < 3; i++) {
      const spinning = client.post("my_tools", "/verify", verifyBody("verifier spins"), { timeoutMs: 1_000 });
      await expect(spinning).rejects.toThrow("did not answer within 1 s");
    }
    expect((await client.post("my_tools", "/verify", verifyBody("fine"))).json()).toMatchObject({
      reward: 1,
    });
  });
});

const MODEL = `
import { defineModel } from "nemo-gym";
export default defineModel({
  async responses({ params }) {
    const called = params.input.some((item) => item.type === "function_call");
    const output = called
      ? [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done", annotations: [] }] }]
      : [{ type: "function_call", id: "f", call_id: "f", name: params.input[0].content, arguments: "{}", status: "completed" }];
    return { id: "resp", created_at: 0, model: "scripted", object: "response", output, parallel_tool_calls: true, tool_choice: "auto", tools: [] };
  },
});
`;

const CONFIG = `
my_tools: {resources_servers: {unruly: {entrypoint: app.ts, domain: other}}}
my_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: my_tools}
      model_server: {type: responses_api_models, name: policy_model}
policy_model: {responses_api_models: {scripted: {entrypoint: app.ts}}}
`;

const question = (name: string) =>
  `${JSON.stringify({ responses_create_params: { input: [{ role: "user", content: name }] } })}\n`;

async function evaluate(rows: string[], words: string[]) {
  const cwd = await project({
    "resources_servers/unruly/app.ts": tools("loop"),
    "responses_api_models/scripted/app.ts": MODEL,
    "config.yaml": CONFIG,
    "in.jsonl": rows.map(question).join(""),
  });
  const head = `++head_server={host: 127.0.0.1, port: ${await freePort()}}`;
  const argv = ["eval", "run", "--config", "config.yaml", "--input", "in.jsonl", "--output", "out.jsonl"];
  return runGym([...argv, "--agent", "my_agent", head, ...words], { cwd });
}

describe("gym eval run", { timeout: 120_000 }, () => {
  it("continues if a tool ends the process later, and names the server", async () => {
    const { exitCode, stdout, stderr } = await evaluate(["ping", "leave_later", "ping"], []);
    expect(stdout + stderr).toContain("Server 'my_tools' called process.exit(4)");
    expect(stdout).toContain("Coverage: 3 of 3 rollouts scored");
    expect(exitCode).toBe(0);
  });

  const limits = ["++blocked_loop_warn_seconds=1", "++blocked_loop_limit_seconds=3"];

  it.each([
    ["co-hosted", [], / in \S+ \(.*resources_servers\/unruly\/app\.ts:\d+\)\. .*hosting: process/],
    // The advice must not suggest a setting that is already active.
    [
      "in its own process",
      ["++hosting=process"],
      / in \S+ \(.*resources_servers\/unruly\/app\.ts:\d+\)\. (?!.*hosting: process)/,
    ],
  ])("names a tool that never ends (%s), and exits at the limit", async (_mode, words, where) => {
    const { exitCode, stdout, stderr } = await evaluate(["ping", "spin"], [...limits, ...words]);
    const output = stdout + stderr;
    const told = output.split("\n").find((line) => line.includes("blocked for 1 s"));
    expect(told).toContain("Server 'my_tools' hangs: the event loop has been blocked for 1 s");
    expect(told).toMatch(where);
    expect(output).toContain("That is the limit (blocked_loop_limit_seconds: 3): the process ends here.");
    // A blocked server process is reported by its parent; a blocked gym process is killed.
    expect(exitCode).toBe(words.length > 0 ? 1 : null);
  });
});
