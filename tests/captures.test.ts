import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Row } from "../src/records/files/jsonl-rows.ts";
import type { EvaluationEvent } from "../src/run/run.ts";
import { openCaptures } from "../src/run/trajectory/open-captures.ts";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { readLogs } from "../src/viewer/run/run-logs.ts";
import { evaluate } from "./support/evaluate.ts";
import { instance, startInstances } from "./support/run-instances.ts";

const running: RunningServers[] = [];
const scratch: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.close()));
  for (const directory of scratch.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A tool, and a verifier that asks a judge. */
const TOOLS = `
import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({
  tools: { look: { run: () => ({ seen: "a boat" }) } },
  async verify({ server, signal }) {
    const reply = await server.client.post("judge", "/v1/responses", { input: "good?" }, { signal });
    server.log.info("asked the judge");
    if (server.globalConfig.hosting === "process") console.log("printed");
    return { reward: reply.ok ? 1 : 0 };
  },
});
`;

/**
 * Makes one look-up and then answers. "tear" leaves half a line in the file of its rollout, like a killed writer; "deny" makes
 * the file impossible to write.
 */
const MODEL = `
import { defineModel } from "nemo-gym";
import { appendFileSync, mkdirSync } from "node:fs";
export default defineModel({
  async responses({ params, server, rolloutId }) {
    const items = typeof params.input === "string" ? [] : params.input;
    const question = items[0]?.content ?? params.input;
    const file = server.globalConfig.model_call_capture_dir + "/" + rolloutId + ".capture.jsonl";
    const turn = items.filter((item) => item.type === "function_call_output").length;
    if (turn === 0 && question === "tear") appendFileSync(file, '{"model_call_id":"half');
    if (turn === 0 && question === "deny") mkdirSync(file);
    if (turn === 0 && question === "break") throw new Error("the backend fell over");
    const id = "item_" + turn;
    const look = turn === 0 && server.name === "policy";
    const count = items.length;
    const tokens = server.globalConfig.token_id_capture
      ? { prompt_token_ids: Array.from({ length: count }, (_, index) => index), generation_token_ids: [count], generation_log_probs: [-0.5] }
      : {};
    const output = look
      ? [{ type: "function_call", id, call_id: id, name: "look", arguments: "{}", status: "completed", ...tokens }]
      : [{ type: "message", id, role: "assistant", status: "completed", content: [{ type: "output_text", text: "a boat", annotations: [] }], ...tokens }];
    const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
    return { id: "resp_" + rolloutId + "_" + turn, created_at: 0, model: "scripted", object: "response", output, parallel_tool_calls: true, tool_choice: "auto", tools: [], usage };
  },
});
`;

/** Supports only text, like a client of an Anthropic endpoint. */
const HARNESS = `
import { callServer, defineAgent } from "nemo-gym";
export default defineAgent({
  async responses({ server, rollout, signal, cookies }) {
    const messages = [{ role: "user", content: "q" }];
    let text = "";
    for (let turn = 0; turn < 2; turn++) {
      const path = rollout.modelPrefix + "/v1/messages";
      const body = { model: "m", max_tokens: 10, messages };
      const reply = await callServer(server.client, { server: "policy", path, body, stage: "model", signal });
      const answer = reply.json();
      text = answer.content.map((block) => block.text ?? "").join("");
      messages.push({ role: "assistant", content: answer.content });
      const use = answer.content.find((block) => block.type === "tool_use");
      messages.push({ role: "user", content: use ? [{ type: "tool_result", tool_use_id: use.id, content: "a boat" }] : "go on" });
    }
    const output = [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }];
    return { response: { id: "r", created_at: 0, model: "m", object: "response", output, parallel_tool_calls: true, tool_choice: "auto", tools: [] }, cookies };
  },
});
`;

async function start(more: Row = {}, agent = "simple_agent", agentConfig: Row = {}) {
  const root = mkdtempSync(join(tmpdir(), "nemo-gym-captures-"));
  scratch.push(root);
  for (const [folder, text] of [
    ["resources_servers/tools", TOOLS],
    ["responses_api_models/scripted", MODEL],
    ["responses_api_agents/harness", HARNESS],
  ] as const) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "app.ts"), text);
  }
  const captures = join(root, "captures");
  const ownAgent = {
    resources_server: { type: "resources_servers", name: "tools" },
    model_server: { type: "responses_api_models", name: "policy" },
    ...agentConfig,
  };
  const globalConfig: Row = {
    model_call_capture_dir: captures,
    tools: { resources_servers: { tools: {} } },
    policy: { responses_api_models: { scripted: {} } },
    judge: { responses_api_models: { scripted: {} } },
    ...more,
  };
  const { servers, events } = await startInstances(
    [
      await instance("tools", "resources_servers", "tools", {}, [root]),
      await instance("policy", "responses_api_models", "scripted", {}, [root]),
      await instance("judge", "responses_api_models", "scripted", {}, [root]),
      agent === "simple_agent"
        ? await instance("agent", "responses_api_agents", agent, ownAgent)
        : await instance("agent", "responses_api_agents", agent, ownAgent, [root]),
    ],
    globalConfig,
    { logDirectory: join(root, "out", "logs") },
  );
  running.push(servers);
  return { servers, events, root, captures, globalConfig, agentConfig: ownAgent as Row };
}

async function run(setup: Awaited<ReturnType<typeof start>>, questions: string[], resume = false) {
  const { servers, root, globalConfig, agentConfig } = setup;
  const input = join(root, "in.jsonl");
  const rows = questions.map((question) => JSON.stringify({ responses_create_params: { input: question } }));
  writeFileSync(input, `${rows.join("\n")}\n`);
  const events: EvaluationEvent[] = [];
  const evaluation = await evaluate({
    client: servers.client,
    output: join(root, "out", "rollouts.jsonl"),
    expand: { inputPath: input, agentName: "agent", repeats: 2 },
    limits: { concurrency: 4, maxAttempts: 1, rolloutTimeoutMs: 30_000, runTimeoutMs: null },
    config: {},
    gymVersion: "test",
    resume,
    captures: await openCaptures({
      config: globalConfig,
      agentConfig: () => agentConfig,
      findFile: (path) => path,
      onNotice: (text) => events.push({ type: "notice", text }),
    }),
    onEvent: (event) => events.push(event),
  });
  const read = (path: string): Row[] =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row);
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  const { paths } = evaluation;
  return { ...evaluation, rows: read(paths.output), failures: read(paths.failures), notices };
}

interface Capture {
  rollout_id: string;
  metrics: Record<string, number>;
  calls: { model_ref: { name: string }; call_index: number }[];
  gaps?: { code: string }[];
}
const captureOf = (row: Row) => row["ng_model_call_capture"] as Capture;
const gapCodes = (value: unknown) =>
  ((value as { gaps?: { code: string }[] }).gaps ?? []).map(({ code }) => code);

it.each(["cohosted", "process"])(
  "gives every row a complete capture and trajectory (%s)",
  async (hosting) => {
    const setup = await start({ observability_enabled: true, hosting });
    const { rows } = await run(setup, ["where?", "what?"]);
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      const id = `${row["_ng_task_index"]}-${row["_ng_rollout_index"]}`;
      const capture = captureOf(row);
      expect(capture.rollout_id).toBe(id);
      expect(capture).not.toHaveProperty("gaps");
      // The call to the judge is attributed to the rollout, although the verifier does not know about rollouts.
      expect(capture.calls.map((call) => call.model_ref.name)).toEqual(["policy", "policy", "judge"]);
      expect(capture.metrics).toMatchObject({ num_calls: 3, tokens_in: 30, tokens_total: 36 });
      expect(row["ng_trajectory"]).toMatchObject({
        schema_version: "1.0",
        task_id: String(row["_ng_task_index"]),
        rollout_id: id,
        invocations: [{ status: "completed", model_calls: [{ response_id: `resp_${id}_0` }, {}] }],
        turns: [
          { turn_no: 1, rollout_id: id, step_count: 1, answer: [{ type: "function_call" }] },
          { turn_no: 2, step_count: 1, answer: [{ content: [{ text: "a boat" }] }] },
        ],
        tool_calls: [{ tool_name: "look", status: "completed", output: '{"seen":"a boat"}' }],
        model_calls: [{ request: {}, response: { id: `resp_${id}_0` } }, {}, {}],
      });
      expect(gapCodes(row["ng_trajectory"])).toEqual([
        "resolution_unavailable",
        "model_call_ownership_unavailable",
      ]);
    }
  },
);

it.each(["cohosted", "process"])(
  "names the rollout in the log lines of its servers (%s)",
  async (hosting) => {
    const setup = await start({ observability_enabled: true, hosting });
    await run(setup, ["where?", "what?"]);
    await setup.servers.close();
    const logs = join(setup.root, "out", "logs");
    const ids = ["0-0", "0-1", "1-0", "1-1"];
    for (const id of ids) {
      const { name, lines, matched } = await readLogs(logs, { rollout: id });
      expect([name, matched]).toEqual(["tools.log", true]);
      const own = lines.map((line) => line.replace(/^\S+ /, ""));
      // The output of this process belongs to the test, that of a separate server process to the server.
      expect(own).toEqual([`[${id}] asked the judge`, ...(hosting === "process" ? [`[${id}] printed`] : [])]);
    }
  },
);

it("records gaps, not failures, for writes that fail or are interrupted", async () => {
  const setup = await start({ observability_enabled: true });
  const { rows, result } = await run(setup, ["tear", "deny", "fine"]);
  expect(result).toMatchObject({ completed: 6, failed: 0 });
  const gapsOf = new Map(
    rows.map((row) => [`${row["_ng_task_index"]}-${row["_ng_rollout_index"]}`, gapCodes(captureOf(row))]),
  );
  expect(gapsOf.get("0-0")).toEqual(["model_call_capture_records_unreadable"]);
  expect(gapsOf.get("1-1")).toEqual(["model_call_capture_unreadable", "model_call_capture_incomplete"]);
  expect(gapsOf.get("2-0")).toEqual([]);
  for (const row of rows) expect(row["reward"]).toBe(1);
});

it("starts every run with empty files and keeps the calls of failed rollouts", async () => {
  const setup = await start({ observability_enabled: true });
  await run(setup, ["where?"]);
  const again = await run(setup, ["where?", "break"]);
  expect(again.rows.map((row) => captureOf(row).calls.length)).toEqual([3, 3]);
  expect(again.failures).toHaveLength(2);
  for (const failure of again.failures) {
    expect(captureOf(failure).calls).toMatchObject([{ error_category: "exception", status_code: 500 }]);
  }
});

it("adds no fields and writes no files without observability", async () => {
  const setup = await start();
  const { rows } = await run(setup, ["where?"]);
  for (const row of rows) {
    expect(Object.keys(row).filter((key) => key.startsWith("ng_"))).toEqual([]);
    expect(row).toHaveProperty("mask_sample", false);
  }
  expect(existsSync(setup.captures)).toBe(false);
});

it("rebuilds the responses of text-only agents from recorded tokens", async () => {
  const setup = await start({ token_id_capture: { enabled: true } }, "harness", { token_id_capture: true });
  const { rows, notices, summary, paths } = await run(setup, ["where?"]);
  expect(rows).toHaveLength(2);
  for (const row of rows) {
    expect(row).toHaveProperty("mask_sample", false);
    expect(row["_ng_token_capture"]).toMatchObject({ n_calls: 2, chains: 1, delivered_fraction: 1 });
    expect(row["response"]).toMatchObject({
      output: [
        { type: "function_call", prompt_token_ids: [0], generation_token_ids: [1] },
        { type: "message", prompt_token_ids: [0, 1, 2], generation_token_ids: [3] },
      ],
    });
  }
  expect(readdirSync(setup.captures).filter((name) => !name.endsWith(".state.json"))).toEqual([]);
  expect(summary?.turnBoundaries).toEqual({ extend: 2, fork: 0, lost: 0 });
  expect(JSON.parse(readFileSync(paths.statistics, "utf8"))).toMatchObject({
    turn_boundaries: { extend: 2 },
  });
  expect(notices).toContainEqual(expect.stringContaining("Turn boundaries: 2 extend, 0 fork, 0 lost"));
});

it("ends a run if most rollouts are masked", async () => {
  // The harness does not request captures, so its calls are not recorded.
  const setup = await start(
    { token_id_capture: { enabled: true, max_mask_fraction: 0.1, mask_fraction_min_samples: 2 } },
    "harness",
  );
  const broken = { ...setup, agentConfig: { token_id_capture: true } };
  await expect(run(broken, ["a", "b", "c"])).rejects.toMatchObject({ code: "ROLLOUT_MASK_FRACTION" });
  const rows = readFileSync(join(setup.root, "out", "rollouts.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  expect(JSON.parse(rows[0] ?? "")).toMatchObject({ mask_sample: true, _ng_token_capture: { n_calls: 0 } });
});

it("refuses to start servers that cannot record", async () => {
  await expect(start({ observability_enabled: true, model_call_capture_dir: "captures" })).rejects.toThrow(
    /model_call_capture_dir.*it is 'captures'/s,
  );
  await expect(start({ token_id_capture: { enabled: true, directory: "/x" } })).rejects.toThrow(
    /unknown token_id_capture.directory/,
  );
});
