import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import type { HostedInstance } from "../src/servers/hosting/cohost.ts";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { instance, startInstances } from "./support/run-instances.ts";

const running: RunningServers[] = [];
const scratch: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.close()));
  for (const directory of scratch.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "nemo-gym-test-"));
  scratch.push(directory);
  return directory;
}

async function start(instances: HostedInstance[], globalConfig: Record<string, unknown> = {}) {
  const started = await startInstances(instances, globalConfig);
  running.push(started.servers);
  return started;
}

async function counterServers(resources: Record<string, unknown> = {}): Promise<HostedInstance[]> {
  return [
    await instance("counter", "resources_servers", "example_session_state_mgmt", resources),
    await instance("model", "responses_api_models", "random_model", { tool_call_rate: 1, max_tool_turns: 3 }),
    await instance("agent", "responses_api_agents", "simple_agent", {
      resources_server: { type: "resources_servers", name: "counter" },
      model_server: { type: "responses_api_models", name: "model" },
    }),
  ];
}

const tools = [
  {
    type: "function",
    name: "increment_counter",
    parameters: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
    strict: true,
  },
];

const modes: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["co-hosted", {}, {}],
  ["a process per server", { hosting: "process" }, {}],
  ["several workers", {}, { num_workers: 3 }],
];

describe.each(modes)("%s", (_mode, globalConfig, resources) => {
  it("keeps an MCP client in the session of its token", async () => {
    const exposed = { ...resources, expose_tools_over_mcp: true };
    const { servers } = await start(await counterServers(exposed), globalConfig);
    const counts = await Promise.all(
      Array.from({ length: 12 }, async (_, initial_count) => {
        const seeded = await servers.client.post("counter", "/seed_session", { initial_count });
        const { headers } = (seeded.json() as { mcp: { headers: Record<string, string> } }).mcp;
        const call = async (name: string, args: object) => {
          const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
          // Each on a separate connection, so that any worker may get it.
          const reply = await fetch(`${servers.client.baseUrl("counter")}/mcp`, {
            method: "POST",
            headers: { ...headers, "content-type": "application/json", connection: "close" },
            body: JSON.stringify(body),
          });
          return (await reply.json()) as { result: { structuredContent: { count?: number } } };
        };
        await call("increment_counter", { count: 100 });
        const { result } = await call("get_counter_value", {});
        return result.structuredContent.count;
      }),
    );
    expect(counts).toEqual(Array.from({ length: 12 }, (_, index) => index + 100));
  });

  it("runs a rollout end to end", async () => {
    const { servers } = await start(await counterServers(resources), globalConfig);
    const reply = await servers.client.post("agent", "/run", {
      responses_create_params: { input: "Count.", tools },
      initial_count: 3,
      expected_count: 3,
      _ng_task_index: 0,
      _ng_rollout_index: 0,
    });
    const body = reply.json() as {
      reward: number;
      response: { output: { type: string; output?: string }[] };
    };
    expect(reply.status).toBe(200);
    expect(typeof body.reward).toBe("number");
    const outputs = body.response.output.filter((item) => item.type === "function_call_output");
    expect(outputs.map((item) => item.output)).toEqual(Array(3).fill('{"success":true}'));
  });

  it("keeps sessions separate", async () => {
    const { servers } = await start(await counterServers(resources), globalConfig);
    const { client } = servers;
    const sessions = 10_000;
    const wrong: unknown[] = [];
    await Promise.all(
      Array.from({ length: sessions }, async (_, index) => {
        const seeded = await client.post("counter", "/seed_session", { initial_count: index });
        const added = await client.post(
          "counter",
          "/increment_counter",
          { count: 1_000_000 },
          { cookies: seeded.cookies },
        );
        const read = await client.post("counter", "/get_counter_value", {}, { cookies: added.cookies });
        const { count } = read.json() as { count?: number };
        if (count === index + 1_000_000) return;
        wrong.push({
          index,
          statuses: [seeded, added, read].map(({ status }) => status),
          answer: read.text(),
        });
      }),
    );
    expect({ count: wrong.length, first: wrong.slice(0, 5) }).toEqual({ count: 0, first: [] });
  }, 180_000);
});

it("logs requests with uvicorn_logging_show_200_ok, including direct calls", async () => {
  const { servers, events } = await start(await counterServers(), { uvicorn_logging_show_200_ok: true });
  await servers.client.post("counter", "/nowhere", {});
  expect(events).toContainEqual({
    type: "log",
    server: "counter",
    line: '"POST /nowhere" 404 Not Found',
    level: "info",
  });
});

it("shows secrets only to servers of the run", async () => {
  const { servers } = await start(await counterServers());
  const text = await (await fetch(`${servers.headUrl}/global_config_dict_yaml`)).text();
  expect(JSON.parse(text)).toContain("secret_key: '****'\n");
  expect(text).not.toContain("hunter2");
  const records = (await (await fetch(`${servers.headUrl}/server_instances`)).json()) as {
    process_name: string;
  }[];
  expect(records.map((record) => record.process_name)).toEqual(["counter", "model", "agent"]);
});

it("gives the processes of a run the token for the whole config", async () => {
  const root = temporaryDirectory();
  const folder = join(root, "resources_servers", "reader");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "app.ts"),
    `import { defineResourcesServer } from "nemo-gym";
console.log("token:", process.env.NEMO_GYM_HEAD_TOKEN);
export default defineResourcesServer({ verify: () => ({ reward: 1 }) });
`,
  );
  const config = { hosting: "process", entrypoint: "app.ts" };
  const { servers, events } = await start([
    await instance("reader", "resources_servers", "reader", config, [root]),
  ]);
  const lines = events.flatMap((event) => (event.type === "log" ? [event.line] : []));
  const token = lines.find((line) => line.startsWith("token: "))?.slice("token: ".length) ?? "";
  expect(token.length).toBeGreaterThan(20);
  const configFor = async (given: string) => {
    const headers = { "x-nemo-gym-token": given };
    return (await fetch(`${servers.headUrl}/global_config_dict_yaml`, { headers })).text();
  };
  expect(await configFor(token)).toContain("hunter2");
  expect(await configFor(token.replace(/.$/, "!"))).not.toContain("hunter2");
  expect(await configFor("")).not.toContain("hunter2");
});

it("names the server that was killed, and leaves no processes behind", async () => {
  const { servers } = await start(await counterServers({ hosting: "process" }));
  const record = servers.instances.find((server) => server.process_name === "counter");
  const pid = record?.pid ?? 0;
  process.kill(pid, "SIGKILL");
  await expect(servers.crashed).rejects.toThrow("Server 'counter' was killed by SIGKILL");
  await servers.close();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});

it("shows the last lines of a server that cannot start and stops the others", async () => {
  const root = temporaryDirectory();
  const folder = join(root, "resources_servers", "broken");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "app.js"),
    'console.error("about to fail"); throw new Error("no database");\nexport default {};\n',
  );
  const broken = await instance(
    "broken",
    "resources_servers",
    "broken",
    { hosting: "process", entrypoint: "app.js" },
    [root],
  );
  await expect(start([...(await counterServers()), broken])).rejects.toThrow(
    /Server 'broken' could not start:.*no database[\s\S]*about to fail/,
  );
});

it("names the process that uses a port", async () => {
  const instances = await counterServers();
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(instances[0]?.port, "127.0.0.1", () => resolve()));
  try {
    await expect(start(instances)).rejects.toThrow(
      new RegExp(
        `'counter' cannot listen on 127.0.0.1:${instances[0]?.port}: the port is in use. It is used by process ${process.pid}`,
      ),
    );
  } finally {
    squatter.close();
  }
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)("a Python server", () => {
  it("runs unchanged and stops with its child processes", async () => {
    const root = temporaryDirectory();
    const folder = join(root, "resources_servers", "python_tools");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "app.py"), PYTHON_SERVER);
    const python = await instance(
      "python_tools",
      "resources_servers",
      "python_tools",
      { entrypoint: "app.py" },
      [root],
    );
    const childFile = join(root, "child.pid");
    process.env["CHILD_FILE"] = childFile;
    process.env["SERVER_PORT"] = String(python.port);
    const { servers } = await start([python]);
    const reply = await servers.client.post("python_tools", "/echo", { a: 1 });
    expect(reply.json()).toEqual({
      instance: "python_tools",
      config: expect.stringContaining("secret_key: hunter2\n"),
      body: { a: 1 },
    });
    const child = readFileSync(childFile, "utf8");
    await servers.close();
    await expect.poll(() => isRunning(child)).toBe(false);
  });
});

/** A zombie process does not count as running. */
function isRunning(pid: string): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

const PYTHON_SERVER = `
import json, os, subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer

child = subprocess.Popen(["sleep", "600"])
open(os.environ["CHILD_FILE"], "w").write(str(child.pid))

class Handler(BaseHTTPRequestHandler):
    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.reply({})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.reply({"instance": os.environ["NEMO_GYM_CONFIG_PATH"], "config": os.environ["NEMO_GYM_CONFIG_DICT"], "body": body})
    def log_message(self, *args):
        pass

HTTPServer(("127.0.0.1", int(os.environ["SERVER_PORT"])), Handler).serve_forever()
`;

it("counts the calls of a rollout across all workers", async () => {
  const { servers } = await start([
    await instance("model", "responses_api_models", "random_model", { num_workers: 3 }),
  ]);
  const post = async (route: string, body: object) => {
    const url = `${servers.client.baseUrl("model")}/ng-rollout/7-0${route}`;
    // Each call on a separate connection, so that the workers share them.
    const headers = { "content-type": "application/json", connection: "close" };
    const reply = await request(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { type: reply.headers["content-type"], text: await reply.body.text() };
  };
  const ask = (stream: boolean) => post("/v1/responses", { input: "Hello", stream });
  const streams = Array.from({ length: 6 }, () => ask(true));
  const answers = [...(await Promise.all(streams)), ...(await Promise.all(streams.map(() => ask(false))))];
  const types = answers.map(({ type }) => type);
  expect(types).toEqual([
    ...Array(6).fill("text/event-stream; charset=utf-8"),
    ...Array(6).fill("application/json"),
  ]);
  expect(JSON.parse((await post("/rollout_usage", {})).text).usage.ng_model_calls).toBe(12);
  expect(JSON.parse((await post("/rollout_usage", {})).text).usage).toBeNull();
});
