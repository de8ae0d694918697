import { spawnSync } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { MockModelEndpoint, VllmDouble } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import { harnessRoot } from "../src/servers/agents/cli/program.ts";
import { networkVariables, project, runGym } from "./gym-process.ts";

/** The shell tool of each harness, and the format of its commands. */
const SHELLS: Record<string, (command: string) => { name: string; arguments: unknown }> = {
  claude_code: (command) => ({ name: "Bash", arguments: { command, description: "look" } }),
  codex: (command) => ({ name: "exec_command", arguments: { cmd: command } }),
  opencode: (command) => ({ name: "bash", arguments: { command, description: "look" } }),
  kilocode: (command) => ({ name: "bash", arguments: { command, description: "look" } }),
  openclaw: (command) => ({ name: "exec", arguments: { command } }),
  pi: (command) => ({ name: "bash", arguments: { command } }),
  cline: (command) => ({ name: "run_commands", arguments: { commands: [command] } }),
};
/** On a busy machine they need half a minute before their first model call. */
const SLOW_STARTERS = new Set(["opencode", "kilocode", "cline", "openclaw"]);
/** Folders below the home directory where harnesses look for skills. */
const SKILLS: Record<string, string> = { claude_code: ".claude/skills", codex: ".codex/skills" };
const chosen = (process.env["NEMO_GYM_TEST_HARNESSES"] ?? "").split(",").filter((name) => name !== "");
if (chosen.length === 0)
  console.info(
    "Harness tests are skipped: they install programs of 200 to 450 MB. Run npm run test:harnesses.",
  );

/** Installing a harness takes minutes on a slow connection. */
const TIMEOUT_MS = 600_000;
const SECRET = "sk-of-the-user-0123456789";

const endpoints: { close(): Promise<void> }[] = [];
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

const ROW = {
  responses_create_params: { input: "Ask get_weather about Oslo, then repeat its sentence." },
  verifier_metadata: { expected_city: "Oslo" },
};
const env = () => ({
  ...networkVariables(),
  NEMO_GYM_HARNESS_DIR: harnessRoot(),
  OPENAI_API_KEY: SECRET,
  ANTHROPIC_API_KEY: SECRET,
});

/** Runs one row of example_mcp_weather with a harness; returns the result row. */
async function runHarness(harness: string, model: string[], prompt: string, ...words: string[]) {
  const row = { ...ROW, responses_create_params: { input: prompt } };
  const cwd = await project({ "rows.jsonl": `${JSON.stringify(row)}\n` });
  const finished = await runGym(
    [
      ...["eval", "run", "--resources-server", "example_mcp_weather", "--agent-type", `${harness}_agent`],
      ...["-i", "rows.jsonl", "-o", "out.jsonl", ...model, ...words],
    ],
    { cwd, env: env() },
  );
  expect(finished.stderr + finished.stdout).toContain("1 of 1 rollouts scored");
  return { cwd, row: JSON.parse(await readFile(path.join(cwd, "out.jsonl"), "utf8")) };
}

const modelAt = (url: string) => [
  ...[
    "--model-type",
    "openai_model",
    "--model-url",
    url,
    "--model-api-key",
    "policy-key",
    "--model",
    "scripted",
  ],
];

/** Calls the tool of the environment, then repeats its output. */
function askAndRepeat(conversation: string, tools: string[], city = '{"city":"Oslo"}') {
  const seen = /The weather in Oslo is sunny and 72 F\./.exec(conversation);
  if (seen) return textAnswer(seen[0]);
  const name = tools.find((tool) => tool.includes("get_weather"));
  if (name === undefined) return textAnswer(`no such tool among ${tools.join(", ")}`);
  return { toolCalls: [{ name, arguments: city }] };
}

describe.skipIf(chosen.length === 0).each(chosen)("%s_agent", (harness) => {
  it("calls a tool of the resources server over MCP and gets a reward", { timeout: TIMEOUT_MS }, async () => {
    const endpoint = await scripted((conversation, tools) => askAndRepeat(conversation, tools));
    const { row } = await runHarness(
      harness,
      modelAt(endpoint.baseUrl),
      ROW.responses_create_params.input,
      "+observability_enabled=true",
      `+model_call_capture_dir=${await project({})}`,
    );
    expect(row.reward).toBe(1);
    expect(row.tool_call_seen).toBe(true);
    const items: { type: string; name?: string }[] = row.response.output;
    expect(items.map(({ type }) => type)).toEqual(["function_call", "function_call_output", "message"]);
    expect(items[0]?.name).toContain("get_weather");
    // Counted by the model server: harnesses that also request a title make more than two calls.
    const { ng_model_calls: calls, ...usage } = row.response.usage;
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(usage).toMatchObject({ input_tokens: 10 * calls, output_tokens: 5 * calls });
    expect(row.ng_model_call_capture.metrics.num_calls).toBe(calls);
    expect(row).toMatchObject({ turns_used: 1, finished_naturally: true });
    // The calls were attributed to the rollout by the prefix of the address that the program received.
    expect(row.ng_model_call_capture.metrics).toMatchObject({
      num_calls: expect.toSatisfy((n: number) => n >= 2),
    });
    expect(row.ng_trajectory.model_calls.length).toBeGreaterThanOrEqual(2);
  });

  it("keeps the user's keys out of the program's environment", { timeout: TIMEOUT_MS }, async () => {
    const shell = SHELLS[harness];
    if (shell === undefined) throw new Error(`no shell tool is known for ${harness}`);
    const endpoint = await scripted((conversation) => {
      // Some harnesses request a title first, without tools.
      if (conversation.includes("HOME=")) return textAnswer("done");
      return { toolCalls: [shell("env | sort")] };
    });
    const { row } = await runHarness(
      harness,
      modelAt(endpoint.baseUrl),
      "Print the environment with the shell.",
    );
    const text = JSON.stringify(row.response.output);
    expect(text).toContain("HOME=");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("policy-key");
  });

  it.skipIf(!(harness in SKILLS))("finds the skills of the run", { timeout: TIMEOUT_MS }, async () => {
    const folder = await project({
      "tides/SKILL.md":
        "---\nname: tides\ndescription: Reads the tide table of Husoy\n---\nLow water is at noon.\n",
      "tides/table.txt": "noon",
    });
    const shell = SHELLS[harness];
    const staged = `$HOME/${SKILLS[harness]}/tides`;
    const endpoint = await scripted((conversation) => {
      if (conversation.includes("Low water")) return textAnswer("done");
      return {
        toolCalls: [shell?.(`cat ${staged}/SKILL.md ${staged}/table.txt`) ?? { name: "", arguments: {} }],
      };
    });
    const { row } = await runHarness(
      harness,
      modelAt(endpoint.baseUrl),
      "When is low water?",
      `+skills.path=${folder}`,
    );
    expect(JSON.stringify(row.response.output)).toContain("Low water is at noon.");
    expect(row.skills_ref.skills).toMatchObject([{ name: "tides" }]);
    // The program itself has found the skill: it tells the model its purpose.
    const asked = endpoint.requests.map(({ body }) => JSON.stringify(body));
    expect(asked.some((text) => text.includes("Reads the tide table of Husoy"))).toBe(true);
  });

  it("ends with all its processes at the time limit", { timeout: TIMEOUT_MS }, async () => {
    const shell = SHELLS[harness];
    if (shell === undefined) throw new Error(`no shell tool is known for ${harness}`);
    let answered = 0;
    const endpoint = await scripted((_, tools) => {
      // The first call gets a response, so that there is something to count; later calls hang.
      if (tools.length === 0) return textAnswer("Waiting");
      if (answered++ === 0) return { toolCalls: [shell("sleep 600 & sleep 1")] };
      return new Promise((resolve) => setTimeout(resolve, 120_000, textAnswer("late")).unref());
    });
    const limit = `++example_mcp_weather_${harness}_agent.responses_api_agents.${harness}_agent.timeout=${SLOW_STARTERS.has(harness) ? 60 : 15}`;
    const { row } = await runHarness(harness, modelAt(endpoint.baseUrl), "Wait.", limit);
    const { ng_model_calls: calls, input_tokens } = row.response.usage;
    expect(calls).toBeGreaterThanOrEqual(1);
    expect(input_tokens).toBe(10 * calls);
    expect(row.response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "timeout" } });
    expect(row.reward).toBe(0);
    expect(await leftBehind()).toEqual([]);
  });

  it("has training data if the model server returns token ids", { timeout: TIMEOUT_MS }, async () => {
    // Harnesses serialize the arguments of earlier calls again. The history continues only if the model uses the same format.
    const spelling = harness === "claude_code" ? '{"city": "Oslo"}' : '{"city":"Oslo"}';
    const vllm = await new VllmDouble({
      maxModelLen: 10_000_000,
      answer: ({ body }) => {
        const tools = (body["tools"] ?? []) as { function: { name: string } }[];
        const names = tools.map(({ function: fn }) => fn.name);
        // A request without tools is for a title; it gets a response at once.
        return names.length === 0
          ? { text: "Weather" }
          : (askAndRepeat(JSON.stringify(body["messages"]), names, spelling) as { text: string });
      },
    }).start();
    endpoints.push(vllm);
    const { cwd, row } = await runHarness(
      harness,
      [
        ...["--model-type", "vllm_model/vllm_model_for_training", "--model-url", vllm.baseUrl],
        ...["--model", vllm.model, "--model-api-key", "k"],
      ],
      ROW.responses_create_params.input,
      "+token_id_capture.enabled=true",
      `+token_id_capture.dir=${await project({})}`,
      `++example_mcp_weather_${harness}_agent.responses_api_agents.${harness}_agent.token_id_capture=true`,
    );
    expect(row.reward).toBe(1);
    expect(row["mask_sample"], JSON.stringify(row["_ng_token_capture"])).not.toBe(true);
    const words = [
      "eval",
      "export",
      "--format",
      "nemo-rl",
      "--tokens",
      "--verify-tokens",
      "--rollouts",
      "out.jsonl",
    ];
    const exported = await runGym([...words, "-o", "train.jsonl"], { cwd });
    expect(exported.exitCode, exported.stderr + exported.stdout).toBe(0);
    const [sample] = (await readFile(path.join(cwd, "train.jsonl"), "utf8")).trim().split("\n");
    const { message_log, reward } = JSON.parse(sample ?? "{}");
    expect(reward).toBe(1);
    const generated = message_log.filter(({ role }: { role: string }) => role === "assistant");
    expect(generated).toHaveLength(2);
    expect(generated[0].generation_logprobs).toHaveLength(generated[0].token_ids.length);
  });
});

it.skipIf(chosen.length < 2)(
  "every harness runs the same environment with one flag, and the results can be compared",
  { timeout: TIMEOUT_MS },
  async () => {
    const cwd = await project({ "rows.jsonl": `${JSON.stringify(ROW)}\n`.repeat(2) });
    const endpoint = await scripted((conversation, tools) => askAndRepeat(conversation, tools));
    const table: string[][] = [];
    for (const harness of chosen) {
      const output = `${harness}/rollouts.jsonl`;
      const words = ["eval", "run", "--resources-server", "example_mcp_weather"];
      const finished = await runGym(
        [
          ...words,
          "--agent-type",
          `${harness}_agent`,
          ...modelAt(endpoint.baseUrl),
          "-i",
          "rows.jsonl",
          "-o",
          output,
        ],
        { cwd, env: env() },
      );
      expect(finished.stderr + finished.stdout).toContain("2 of 2 rollouts scored");
      const [line = ""] = (await readFile(path.join(cwd, output), "utf8")).split("\n");
      const { reward, response } = JSON.parse(line);
      const items = response.output.map(({ type }: { type: string }) => type).join(" ");
      table.push([
        harness,
        String(reward),
        items,
        `${response.usage.input_tokens}/${response.usage.output_tokens}`,
      ]);
    }
    console.info(table.map((cells) => cells.join(" | ")).join("\n"));
    const [first, ...others] = chosen.map((harness) => `${harness}/rollouts.jsonl`);
    for (const other of others) {
      const compared = await runGym(["eval", "compare", first ?? "", other, "--json"], { cwd });
      expect(compared.exitCode, compared.stderr + compared.stdout).toBe(0);
    }
  },
);

const bubblewrap = spawnSync("bwrap", ["--version"]).status === 0;
if (!bubblewrap) console.info("The sandboxed harness is not tested: bubblewrap is not installed.");

it.skipIf(!bubblewrap || !chosen.includes("opencode"))(
  "opencode_sandboxed_agent reaches only the model and the tools",
  { timeout: TIMEOUT_MS },
  async () => {
    const other = await scripted(() => textAnswer("I am another server of this machine."));
    const probe = [
      "ls -A /root /home/sandbox",
      `curl -sS -m 5 ${other.baseUrl}/models 2>&1`,
      // Every listening port inside: the two ways out, and ports that the harness itself opened.
      `for hex in $(awk '$4 == "0A" { split($2, at, ":"); print at[2] }' /proc/net/tcp); do curl -sS -m 5 -o /dev/null -w 'status:%{http_code} ' -X POST http://127.0.0.1:$((16#$hex))/verify; done`,
      "env | sort",
      "echo probed",
    ].join("; ");
    const endpoint = await scripted((conversation, tools) => {
      if (conversation.includes("probed\\\\n") || conversation.includes("HOME="))
        return textAnswer("The weather in Oslo is sunny and 72 F.");
      if (!conversation.includes("sunny")) return askAndRepeat(conversation, tools);
      return { toolCalls: [SHELLS["opencode"]?.(probe) ?? { name: "", arguments: {} }] };
    });
    const { row } = await runHarness(
      "opencode_sandboxed",
      modelAt(endpoint.baseUrl),
      ROW.responses_create_params.input,
    );
    expect(row.reward).toBe(1);
    const outputs = row.response.output.filter(
      ({ type }: { type: string }) => type === "function_call_output",
    );
    const said: string = outputs.at(-1).output;
    expect(said).toContain("HOME=/work/home");
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain("another server");
    // The verifier is reachable on the same path as the tools, but not for the harness.
    expect(said.match(/status:404/g)?.length, said).toBeGreaterThanOrEqual(2);
    expect(said).not.toMatch(/status:[25]/);
    expect((await readdir(os.tmpdir())).filter((name) => name.startsWith("nemo-gym-way-out-"))).toEqual([]);
  },
);

/** Folders of rollouts, and processes that still run in one. */
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
