import { readdir, readFile, readlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import { harnessRoot } from "../src/agents/cli/program.ts";
import { networkVariables, project, runGym } from "./gym-process.ts";

/** The shell tool of each harness, and how it takes a command. */
const SHELLS: Record<string, (command: string) => { name: string; arguments: unknown }> = {
  claude_code: (command) => ({ name: "Bash", arguments: { command, description: "look" } }),
  codex: (command) => ({ name: "exec_command", arguments: { cmd: command } }),
  opencode: (command) => ({ name: "bash", arguments: { command, description: "look" } }),
  pi: (command) => ({ name: "bash", arguments: { command } }),
  cline: (command) => ({ name: "run_commands", arguments: { commands: [command] } }),
};
const chosen = (process.env["NEMO_GYM_TEST_HARNESSES"] ?? "").split(",").filter((name) => name !== "");
if (chosen.length === 0)
  console.info(
    "Harness tests are skipped: they install programs of 200 to 450 MB. Run npm run test:harnesses.",
  );

/** Installing a harness takes minutes on a slow connection. */
const TIMEOUT_MS = 600_000;
const SECRET = "sk-of-the-user-0123456789";

const endpoints: MockModelEndpoint[] = [];
afterEach(async () => {
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

type Answer = (
  conversation: string,
  tools: string[],
) => ReturnType<typeof textAnswer> | object | Promise<object>;
const textAnswer = (text: string) => ({ text });

async function scripted(answer: Answer): Promise<MockModelEndpoint> {
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

/** Runs one row of example_mcp_weather by a harness; returns the row of the result. */
async function runHarness(harness: string, endpoint: MockModelEndpoint, prompt: string, ...words: string[]) {
  const row = {
    responses_create_params: { input: prompt },
    verifier_metadata: { expected_city: "Oslo" },
  };
  const cwd = await project({ "rows.jsonl": `${JSON.stringify(row)}\n` });
  const finished = await runGym(
    [
      ...["eval", "run", "--resources-server", "example_mcp_weather", "--agent-type", `${harness}_agent`],
      ...["--model-type", "openai_model", "--model-url", endpoint.baseUrl, "--model-api-key", "policy-key"],
      ...["--model", "scripted", "-i", "rows.jsonl", "-o", "out.jsonl", ...words],
    ],
    {
      cwd,
      env: {
        ...networkVariables(),
        NEMO_GYM_HARNESS_DIR: harnessRoot(),
        OPENAI_API_KEY: SECRET,
        ANTHROPIC_API_KEY: SECRET,
      },
    },
  );
  expect(finished.stderr + finished.stdout).toContain("1 of 1 rollouts scored");
  return JSON.parse(await readFile(path.join(cwd, "out.jsonl"), "utf8"));
}

describe.skipIf(chosen.length === 0).each(chosen)("%s_agent", (harness) => {
  it("calls a tool of the resources server over MCP and is scored", { timeout: TIMEOUT_MS }, async () => {
    const endpoint = await scripted((conversation, tools) => {
      const seen = /The weather in Oslo is sunny and 72 F\./.exec(conversation);
      if (seen) return textAnswer(seen[0]);
      const name = tools.find((tool) => tool.includes("get_weather"));
      if (name === undefined) return textAnswer(`no such tool among ${tools.join(", ")}`);
      return { toolCalls: [{ name, arguments: { city: "Oslo" } }] };
    });
    const row = await runHarness(harness, endpoint, "Ask get_weather about Oslo, then repeat its sentence.");
    expect(row.reward).toBe(1);
    expect(row.tool_call_seen).toBe(true);
    const items: { type: string; name?: string }[] = row.response.output;
    expect(items.map(({ type }) => type)).toEqual(["function_call", "function_call_output", "message"]);
    expect(items[0]?.name).toContain("get_weather");
    expect(row.response.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    expect(row).toMatchObject({ turns_used: 1, finished_naturally: true });
  });

  it("keeps the user's keys out of the program's environment", { timeout: TIMEOUT_MS }, async () => {
    const shell = SHELLS[harness];
    if (shell === undefined) throw new Error(`no shell tool is known for ${harness}`);
    const endpoint = await scripted((conversation) => {
      // Some harnesses ask for a title first, without tools.
      if (conversation.includes("HOME=")) return textAnswer("done");
      return { toolCalls: [shell("env | sort")] };
    });
    const row = await runHarness(harness, endpoint, "Print the environment with the shell.");
    const text = JSON.stringify(row.response.output);
    expect(text).toContain("HOME=");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("policy-key");
  });

  it("is ended with all its processes at the time limit", { timeout: TIMEOUT_MS }, async () => {
    const endpoint = await scripted(
      () => new Promise((resolve) => setTimeout(resolve, 60_000, textAnswer("late")).unref()),
    );
    const limit = `++example_mcp_weather_${harness}_agent.responses_api_agents.${harness}_agent.timeout=6`;
    const row = await runHarness(harness, endpoint, "Wait.", limit);
    expect(row.response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "timeout" } });
    expect(row.reward).toBe(0);
    expect(await leftBehind()).toEqual([]);
  });
});

/** Folders of rollouts, and processes that still work in one. */
async function leftBehind(): Promise<string[]> {
  const marker = path.join(os.tmpdir(), "nemo-gym-harness-");
  const folders = (await readdir(os.tmpdir())).filter((name) => name.startsWith("nemo-gym-harness-"));
  const processes: string[] = [];
  for (const id of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const directory = await readlink(`/proc/${id}/cwd`).catch(() => "");
    if (directory.startsWith(marker)) processes.push(`${id} in ${directory}`);
  }
  return [...folders, ...processes];
}
