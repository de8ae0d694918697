import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { MockAnswer } from "../src/testing/mock-model-endpoint.ts";
import { networkVariables, project, repository, runGym } from "./gym-process.ts";

/** Agents for libraries that are not dependencies of the product: they are installed from npm into a separate cache folder. */
const AGENTS = ["ai_sdk_agent", "langgraph_agent", "openai_agents_agent"];
/** The agent of the guide "Bring your own agent". */
const NEWCOMER = "examples/responses_api_agents/office_planner";
const isChosen = (process.env["NEMO_GYM_TEST_FRAMEWORKS"] ?? "") !== "";
if (!isChosen)
  console.info("Framework tests are skipped: they install 160 MB from npm. Run npm run test:frameworks.");

const TIMEOUT_MS = 300_000;
const root = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
  "nemo-gym",
  "test-frameworks",
);

const endpoints: MockModelEndpoint[] = [];
afterEach(async () => {
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

async function scripted(answer: (conversation: string, tools: string[]) => MockAnswer) {
  const endpoint = await new MockModelEndpoint({
    answer: ({ body }) => {
      const tools = (body["tools"] ?? []) as { name?: string; function?: { name: string } }[];
      const names = tools.map(({ name, function: fn }) => name ?? fn?.name ?? "");
      return answer(JSON.stringify(body["input"] ?? body["messages"]), names);
    },
  }).start();
  endpoints.push(endpoint);
  return endpoint;
}

const tool = (name: string, properties: object) => ({
  type: "function",
  name,
  description: `Call ${name}.`,
  parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  strict: true,
});
const counter = {
  responses_create_params: {
    input: [
      { role: "developer", content: "You count." },
      { role: "user", content: "Add 4 to the counter, then say what it shows." },
    ],
    tools: [tool("increment_counter", { count: { type: "integer" } }), tool("get_counter_value", {})],
    temperature: 0.5,
  },
  initial_count: 3,
  expected_count: 7,
};

async function run(agentType: string, environment: string, row: object, url: string, ...words: string[]) {
  const cwd = await project({ "rows.jsonl": `${JSON.stringify(row)}\n` });
  const finished = await runGym(
    [
      ...["eval", "run", "--search-dir", root, "--resources-server", environment, "--agent-type", agentType],
      ...["--model-type", "openai_model", "--model-url", url, "--model-api-key", "k", "--model", "scripted"],
      ...["-i", "rows.jsonl", "-o", "out.jsonl", ...words],
    ],
    { cwd, env: networkVariables() },
  );
  const text = finished.stderr + finished.stdout;
  const rows = (await readFile(path.join(cwd, "out.jsonl"), "utf8").catch(() => "")).split("\n");
  return { cwd, text, row: rows[0] ? JSON.parse(rows[0]) : undefined };
}

describe.skipIf(!isChosen)("frameworks in the process of the agent", () => {
  beforeAll(async () => {
    await mkdir(path.join(root, "responses_api_agents"), { recursive: true });
    for (const source of [...AGENTS.map((name) => `responses_api_agents/${name}`), NEWCOMER]) {
      const name = path.basename(source);
      const target = path.join(root, "responses_api_agents", name);
      await cp(path.join(repository, source), target, {
        recursive: true,
        filter: (source) => path.basename(source) !== "node_modules",
      });
      const words = ["env", "prefetch", "--search-dir", root, "--agent-type", name, "--resources-server"];
      const prepared = await runGym([...words, "example_session_state_mgmt"], {
        cwd: root,
        env: networkVariables(),
      });
      expect(prepared.exitCode, prepared.stderr + prepared.stdout).toBe(0);
    }
  }, TIMEOUT_MS);

  it("passes the type check against the libraries themselves", { timeout: TIMEOUT_MS }, async () => {
    const base = path.join(repository, "tsconfig.json");
    const { compilerOptions } = JSON.parse(await readFile(base, "utf8")) as {
      compilerOptions: { paths: Record<string, string[]> };
    };
    // Their folders are in the cache, so everything outside of their own node_modules is listed here.
    const paths: Record<string, string[]> = { zod: [path.join(repository, "node_modules/zod")] };
    for (const [name, [target = ""]] of Object.entries(compilerOptions.paths))
      paths[name] = [path.join(repository, target)];
    const config = {
      extends: base,
      compilerOptions: { paths, rootDir: "/", typeRoots: [path.join(repository, "node_modules/@types")] },
      include: ["responses_api_agents"],
      exclude: ["**/node_modules", "**/*.test.ts"],
    };
    await writeFile(path.join(root, "tsconfig.json"), JSON.stringify(config));
    const compiler = path.join(repository, "node_modules/.bin/tsc");
    const { stdout } = spawnSync(compiler, ["-p", root], { encoding: "utf8" });
    expect(stdout).toBe("");
  });

  it.each(AGENTS)(
    "%s calls tools in the session of the rollout and is scored",
    { timeout: TIMEOUT_MS },
    async (agent) => {
      const endpoint = await scripted((conversation) => {
        if (conversation.includes('\\"count\\":7')) return { text: "The counter shows 7." };
        if (conversation.includes("success"))
          return { toolCalls: [{ name: "get_counter_value", arguments: {} }] };
        return { toolCalls: [{ name: "increment_counter", arguments: { count: 4 } }] };
      });
      const { text, row } = await run(agent, "example_session_state_mgmt", counter, endpoint.baseUrl);
      expect(text).toContain("1 of 1 rollouts scored");
      expect(row.reward).toBe(1);
      const items: { type: string; name?: string; output?: string }[] = row.response.output;
      expect(items.map(({ type, name, output }) => name ?? output ?? type)).toEqual([
        "increment_counter",
        '{"success":true}',
        "get_counter_value",
        '{"count":7}',
        "message",
      ]);
      expect(row.response.usage).toMatchObject({ input_tokens: 30, output_tokens: 15, total_tokens: 45 });
      expect(text).toContain("tokens 30 in, 15 out");
      // Settings of the row reach the model, although the framework does not know them.
      const asked = endpoint.requests.filter(({ method }) => method === "POST");
      expect(asked.map(({ body }) => body["temperature"])).toEqual([0.5, 0.5, 0.5]);
    },
  );

  it.each(AGENTS)("%s stops and is scored after max_steps", { timeout: TIMEOUT_MS }, async (agent) => {
    const endpoint = await scripted(() => ({ toolCalls: [{ name: "get_counter_value", arguments: {} }] }));
    const key = `++example_session_state_mgmt_${agent}.responses_api_agents.${agent}.max_steps=2`;
    const { row } = await run(agent, "example_session_state_mgmt", counter, endpoint.baseUrl, key);
    expect(row.reward).toBe(0);
    expect(row.response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_steps" },
    });
    expect(endpoint.requests.filter(({ method }) => method === "POST")).toHaveLength(2);
  });

  it.each(AGENTS)(
    "%s fails with the root cause if the model does",
    { timeout: TIMEOUT_MS },
    async (agent) => {
      const endpoint = await new MockModelEndpoint({ apiKey: "another" }).start();
      endpoints.push(endpoint);
      const { cwd, row } = await run(agent, "example_session_state_mgmt", counter, endpoint.baseUrl);
      expect(row).toBeUndefined();
      const failures = await readFile(path.join(cwd, "out_failures.jsonl"), "utf8");
      expect(failures).toContain("401 from 127.0.0.1");
    },
  );

  it("records the trajectory of a framework's loop", { timeout: TIMEOUT_MS }, async () => {
    const endpoint = await scripted((conversation) =>
      conversation.includes('\\"count\\"')
        ? { text: "Done." }
        : { toolCalls: [{ name: "get_counter_value", arguments: {} }] },
    );
    const { row } = await run(
      "langgraph_agent",
      "example_session_state_mgmt",
      counter,
      endpoint.baseUrl,
      "+observability_enabled=true",
      `+model_call_capture_dir=${await project({})}`,
    );
    expect(row.ng_model_call_capture.metrics).toMatchObject({ num_calls: 2, tokens_in: 20, tokens_out: 10 });
    expect(row.ng_trajectory.turns).toHaveLength(2);
    expect(row.ng_trajectory.tool_calls).toMatchObject([
      { tool_name: "get_counter_value", status: "completed" },
    ]);
  });

  const quiz = { responses_create_params: { input: "What is 6 * 7?" } };
  it.each([
    ["reflection_agent", ["A guess: 41", "It is off by one.", "<answer>42</answer>"], 3],
    ["orchestrator_agent", ["SUBTASK 1: six\nSUBTASK 2: seven", "6", "7", "<answer>42</answer>"], 4],
    ["parallel_thinking_agent", ["41", "42", "42", "42", "<answer>42</answer>"], 5],
    [
      "rewoo_agent",
      ["Plan: add up #E1 = LLM[6+6+6]\nPlan: go on #E2 = LLM[#E1 + 24]", "18", "42", "<answer>42</answer>"],
      4,
    ],
  ])(
    "langgraph_agent/%s answers after all its turns",
    { timeout: TIMEOUT_MS },
    async (flavor, texts, calls) => {
      const asked: string[] = [];
      const endpoint = await scripted((conversation) => {
        asked.push(conversation);
        return { text: texts[asked.length - 1] ?? "too many" };
      });
      const { row } = await run(
        `langgraph_agent/${flavor}`,
        "example_single_tool_call",
        quiz,
        endpoint.baseUrl,
      );
      expect(asked).toHaveLength(calls);
      expect(row.response.output.at(-1).content[0].text).toBe("<answer>42</answer>");
      expect(row.response.usage.input_tokens).toBe(calls * 10);
      if (flavor === "rewoo_agent") expect(asked[2]).toContain("18 + 24");
      if (flavor === "orchestrator_agent") expect(asked[3]).toContain("six");
    },
  );

  it("runs the agent of the guide on workplace_assistant, in under 60 lines", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const app = await readFile(path.join(repository, NEWCOMER, "app.ts"), "utf8");
    expect(app.split("\n").length).toBeLessThan(60);
    const data = await readFile(
      path.join(repository, "resources_servers/workplace_assistant/data/example.jsonl"),
      "utf8",
    );
    const row = JSON.parse(data.split("\n")[2] ?? "") as {
      ground_truth: { name: string; arguments: string }[];
    };
    const [first, second] = row.ground_truth;
    const endpoint = await scripted((conversation) => {
      const acted = conversation.split('"role":"tool"').length - 1;
      if (!conversation.includes("carry it out")) return { text: "1. Reassign both customers." };
      const call = [first, second][acted];
      return call ? { toolCalls: [call] } : { text: "Both are reassigned." };
    });
    const done = await run("office_planner", "workplace_assistant", row, endpoint.baseUrl);
    expect(done.text).toContain("1 of 1 rollouts scored");
    expect(done.row.reward).toBe(1);
    expect(done.row.response.output).toHaveLength(6);
    expect(done.row.response.usage.input_tokens).toBe(40);
  });
});
