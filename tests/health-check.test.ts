import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { project, runGym } from "./gym-process.ts";

/** A model that returns nothing if the prompt asks for that. */
const FILES = {
  "resources_servers/lenient/app.ts": `
import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({ verify: () => ({ reward: 1 }) });
`,
  "responses_api_models/moody/app.ts": `
import { defineModel } from "nemo-gym";
export default defineModel({
  async responses({ params }) {
    const mute = JSON.stringify(params.input).includes("mute");
    const text = mute ? "" : "yes";
    const usage = { input_tokens: 3, output_tokens: mute ? 0 : 1, total_tokens: mute ? 3 : 4,
      input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
    return { id: "resp_" + Math.random(), created_at: 0, model: "moody", object: "response", parallel_tool_calls: true, tool_choice: "auto", tools: [], usage,
      output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }] };
  },
});
`,
  "env.jsonl": ["speak", "mute"]
    .map(
      (content) => `${JSON.stringify({ responses_create_params: { input: [{ role: "user", content }] } })}\n`,
    )
    .join(""),
  "config.yaml": `
observability_enabled: true
lenient:
  resources_servers:
    lenient: {entrypoint: app.ts, domain: other}
agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: lenient}
      model_server: {type: responses_api_models, name: policy_model}
policy_model:
  responses_api_models:
    moody: {entrypoint: app.ts}
`,
};

function evaluate(cwd: string, ...words: string[]) {
  const capture = `+model_call_capture_dir=${path.join(cwd, "calls")}`;
  const run = ["eval", "run", "--config", "config.yaml", "-i", "env.jsonl", "-o", "out/rollouts.jsonl"];
  return runGym([...run, "--num-repeats", "2", capture, ...words], { cwd });
}

it("checks rollouts after a run and reports the findings", async () => {
  const cwd = await project(FILES);
  const { exitCode, stdout, stderr } = await evaluate(cwd);
  expect(exitCode, stderr).toBe(0);
  expect(stdout).not.toContain("health");
  expect(stderr).toContain("Rollout health: 4 checked, 2 healthy, 2 unhealthy, 0 unobserved\n");
  expect(stderr).toContain("  2 model_call_zero_completion_tokens\n");
  expect(stderr).toContain("Quality summary: out/quality_summary.json");
  const summary = JSON.parse(readFileSync(path.join(cwd, "out/quality_summary.json"), "utf8"));
  expect(summary.tasks["1"]).toMatchObject({
    repeats: 2,
    unhealthy: 2,
    flags: ["task_consistently_unhealthy"],
  });

  const again = await runGym(["eval", "health-check", "out", "--json", "--workers", "2"], { cwd });
  expect(JSON.parse(again.stdout)).toEqual(summary);
  expect(again.stderr).toBe("");

  const exporting = ["eval", "export", "--rollouts", "out/rollouts.jsonl", "--format", "sft", "--json"];
  const exported = await runGym([...exporting, "--health", "not-unhealthy"], { cwd });
  expect(JSON.parse(exported.stdout)).toMatchObject({ read: 4, written: 2, filtered: { health: 2 } });

  const ignored = "model_call_zero_completion_tokens,agent_turn_hollow";
  const quiet = await evaluate(cwd, "--health-check-ignore", ignored, "--json");
  expect(quiet.stderr).not.toContain("Rollout health");
  const events = quiet.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(events.find(({ event }) => event === "health")).toMatchObject({
    verdicts: { healthy: 4, unhealthy: 0 },
    quality_summary: path.join(cwd, "out/quality_summary.json"),
  });
  expect(events.at(-1)).toMatchObject({ event: "finished" });
});

it("can be turned off, and rejects unknown checks before the run", async () => {
  const cwd = await project(FILES);
  const bad = await evaluate(cwd, "--health-check-ignore", "nope");
  expect(bad.exitCode).toBe(2);
  expect(bad.stderr).toContain("Unknown rollout health check(s): nope. Known: check_execution_error");
  expect(existsSync(path.join(cwd, "out"))).toBe(false);
  expect((await evaluate(cwd, "--no-health-check")).exitCode).toBe(0);
  expect(existsSync(path.join(cwd, "out/quality_summary.json"))).toBe(false);
});

it("gives the same report in threads", async () => {
  const row = (index: number) => ({
    _ng_task_index: index % 60,
    _ng_rollout_index: Math.floor(index / 60),
    filler: "x".repeat(8000),
    ng_trajectory: { schema_version: "1.0", turns: index % 7 === 0 ? [] : [{ turn_no: 1, answer: "hi" }] },
  });
  const cwd = await project({});
  const lines = Array.from({ length: 300 }, (_, index) => `${JSON.stringify(row(index))}\n`);
  await writeFile(path.join(cwd, "rollouts.jsonl"), lines.join(""));
  const reports = [];
  for (const [run, workers] of [
    [".", "1"],
    [".", "2"],
    ["rollouts.jsonl", "1"],
  ] as const) {
    const { stdout, stderr } = await runGym(["eval", "health-check", run, "--workers", workers], { cwd });
    expect(stderr).toBe("");
    expect(stdout).toContain("300 checked, 0 healthy, 43 unhealthy, 257 unobserved");
    reports.push(readFileSync(path.join(cwd, "rollout_verdicts.jsonl"), "utf8"));
  }
  expect(reports).toEqual(Array(3).fill(reports[0]));
});

it("lists the runs of a directory if the file is missing", async () => {
  const cwd = await project({
    "b.jsonl": "",
    "b_manifest.json": "{}",
    "a.jsonl": "",
    "a_manifest.json": "{}",
    "c.jsonl": "",
  });
  const { exitCode, stderr } = await runGym(["eval", "health-check", "."], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("no file 'rollouts.jsonl' in '.'; its runs are a.jsonl, b.jsonl");
});
