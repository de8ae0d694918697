import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { instance, startInstances } from "./support/run-instances.ts";

/** An interpreter with aiohttp: `NEMO_GYM_TEST_PYTHON`, or that of the system, where the package manager installs it. */
const python = [process.env["NEMO_GYM_TEST_PYTHON"] ?? "/usr/bin/python3", "python3"].find(
  (name) => spawnSync(name, ["-c", "import aiohttp"]).status === 0,
);
if (!python && process.env["CI"])
  throw new Error("The Python wire test needs NEMO_GYM_TEST_PYTHON with aiohttp.");
if (!python)
  console.log("The Python wire test is skipped: no python3 with aiohttp (apt install python3-aiohttp).");

let servers: RunningServers;

beforeAll(async () => {
  const started = await startInstances([
    await instance("counter", "resources_servers", "example_session_state_mgmt"),
    await instance("weather", "resources_servers", "example_mcp_weather", { expose_tools_over_mcp: true }),
    await instance("model", "responses_api_models", "random_model", { tool_call_rate: 1, max_tool_turns: 2 }),
    await instance("agent", "responses_api_agents", "simple_agent", {
      resources_server: { type: "resources_servers", name: "counter" },
      model_server: { type: "responses_api_models", name: "model" },
    }),
  ]);
  servers = started.servers;
});

afterAll(() => servers.close());

describe.skipIf(!python)("a Python client", () => {
  it("finds the servers through the head server and sends cookies like the original", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nemo-gym-wire-"));
    const script = join(folder, "client.py");
    writeFileSync(script, PYTHON_CLIENT);
    const run = await promisify(execFile)(python ?? "", [script, servers.headUrl ?? ""], { timeout: 60_000 });
    rmSync(folder, { recursive: true });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      instances: ["counter", "weather", "model", "agent"],
      counts: [3, 7, 12],
      replaced_cookie_counts: [1, 2, 3],
      verify_reward: 1,
      echoed_defaults: { parallel_tool_calls: true, tool_choice: "auto", tools: [], temperature: null },
      tool_error: 422,
      missing: 404,
      model_object: "response",
      run_reward_is_number: true,
      run_outputs: 2,
      aggregate_mean: 0.5,
      reverify: "unknown",
    });
  });
});

describe("an MCP client", () => {
  async function connect(token?: string): Promise<Client> {
    const url = new URL(`${servers.client.baseUrl("weather")}/mcp`);
    const headers: Record<string, string> = token ? { "X-NeMo-Gym-Session-Token": token } : {};
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client;
  }

  it("calls tools in the session that was seeded", async () => {
    const row = {
      responses_create_params: { input: "Weather in Oslo?" },
      verifier_metadata: { expected_city: "Oslo" },
    };
    const seeded = await servers.client.post("weather", "/seed_session", row);
    const { mcp } = seeded.json() as {
      mcp: { headers: Record<string, string>; url_path: string; server_name: string };
    };
    expect(mcp).toMatchObject({ server_name: "weather", url_path: "/mcp", transport: "http" });
    const client = await connect(mcp.headers["X-NeMo-Gym-Session-Token"]);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["get_weather"]);
    expect(tools[0]?.inputSchema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    });
    const result = await client.callTool({ name: "get_weather", arguments: { city: "Oslo" } });
    const sentence = "The weather in Oslo is sunny and 72 F.";
    expect(result.structuredContent).toEqual({ weather: sentence });
    const bad = await client.callTool({ name: "get_weather", arguments: { town: "Oslo" } });
    expect(bad.isError).toBe(true);
    expect(JSON.stringify(bad.content)).toContain("HTTP 422 from POST /get_weather");
    const unknown = await client.callTool({ name: "get_tide", arguments: {} });
    expect(JSON.stringify(unknown.content)).toContain("Tools: get_weather");
    await client.close();
    const verified = await servers.client.post(
      "weather",
      "/verify",
      { ...row, response: answer(sentence, "mcp__weather__get_weather") },
      { cookies: seeded.cookies },
    );
    const body = verified.json() as { reward: number; response: { output: { name?: string }[] } };
    expect(body.reward).toBe(1);
    expect(body.response.output[0]?.name).toBe("mcp__weather__get_weather");
  });

  it("gets an error if its token is missing or forged", async () => {
    for (const token of [undefined, "forged.token"]) {
      const client = await connect(token);
      expect((await client.listTools()).tools).toHaveLength(1);
      const result = await client.callTool({ name: "get_weather", arguments: { city: "Oslo" } });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(/X-NeMo-Gym-Session-Token/);
      await client.close();
    }
  });
});

function answer(text: string, toolName: string) {
  return {
    id: "resp_1",
    created_at: 1,
    model: "m",
    object: "response",
    output: [
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: toolName,
        arguments: '{"city":"Oslo"}',
        status: "completed",
      },
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
  };
}

const PYTHON_CLIENT = `
import asyncio, json, sys
import aiohttp

async def main(head):
    jarless = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(cookie_jar=jarless) as session:
        async with session.get(head + "/server_instances") as reply:
            instances = await reply.json()
        urls = {i["process_name"]: i["url"] for i in instances}
        async with session.get(head + "/global_config_dict_yaml") as reply:
            text = json.loads(await reply.text())
        assert isinstance(text, str) and "resources_servers" in text

        async def post(name, path, body=None, cookies=None):
            async with session.post(urls[name] + path, json=body, cookies=cookies) as reply:
                data = await reply.read()
                return reply.status, json.loads(data), {k: v.value for k, v in reply.cookies.items()}

        _, _, cookies = await post("counter", "/seed_session", {"initial_count": 3})
        counts = []
        for add in (0, 4, 5):
            _, _, cookies = await post("counter", "/increment_counter", {"count": add}, cookies)
            _, value, cookies = await post("counter", "/get_counter_value", {}, cookies)
            counts.append(value["count"])
        params = {"input": "Count."}
        response = {"id": "r", "created_at": 1.0, "model": "m", "object": "response", "output": [],
                    "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        _, verified, _ = await post("counter", "/verify", {"responses_create_params": params, "response": response, "expected_count": 12}, cookies)
        tool_error, _, cookies2 = await post("counter", "/increment_counter", {"count": "x"}, None)
        replaced = []
        for _ in range(3):
            _, _, cookies2 = await post("counter", "/increment_counter", {"count": 1}, cookies2)
            _, _, cookies2 = await post("counter", "/increment_counter", {"count": "broken"}, cookies2)
            _, value, cookies2 = await post("counter", "/get_counter_value", {}, cookies2)
            replaced.append(value["count"])
        missing, _, _ = await post("counter", "/no_such_tool", {})
        _, model, _ = await post("model", "/v1/responses", params)
        tools = [{"type": "function", "name": "increment_counter", "strict": True,
                  "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}}]
        _, run, _ = await post("agent", "/run", {"responses_create_params": {"input": "Go.", "tools": tools}, "initial_count": 0, "expected_count": 0})
        rows = [{"_ng_task_index": 0, "_ng_rollout_index": i, "reward": float(i)} for i in range(2)]
        _, aggregate, _ = await post("agent", "/aggregate_metrics", {"verify_responses": rows})
        async with session.get(urls["counter"] + "/reverify_mode") as reply:
            reverify = await reply.json()
    echoed = verified["responses_create_params"]
    print(json.dumps({
        "instances": [i["process_name"] for i in instances],
        "counts": counts,
        "replaced_cookie_counts": replaced,
        "verify_reward": verified["reward"],
        "echoed_defaults": {k: echoed[k] for k in ("parallel_tool_calls", "tool_choice", "tools", "temperature")},
        "tool_error": tool_error,
        "missing": missing,
        "model_object": model["object"],
        "run_reward_is_number": isinstance(run["reward"], (int, float)),
        "run_outputs": len([i for i in run["response"]["output"] if i["type"] == "function_call_output"]),
        "aggregate_mean": aggregate["agent_metrics"]["mean/reward"],
        "reverify": reverify,
    }))

asyncio.run(main(sys.argv[1]))
`;
