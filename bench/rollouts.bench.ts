import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { installRoot } from "../src/config/paths.ts";
import { memoryMb, processTree, treeCpuMs } from "./process-tree.ts";
import type { Report } from "./report.ts";

export const name = "rollouts";

const ROLLOUTS = 20_000;
const COHOSTED_MS = 0.8;
const PROCESSES_MS = 2.0;
const START_COHOSTED_MS = 1_000;
const START_PROCESSES_MS = 2_500;
const IDLE_MB = 150;

const IN_FLIGHT = 5_000;
const LATENCY_MS = 500;
const SHARE_OF_IDEAL = 0.9;

const LONG_ROWS = 1_000_000;
const LONG_MB = 400;

/** A rollout here: seed the session, ask the model, run its tool call, ask again, verify. */
const CONFIG = `
bench_resources:
  resources_servers:
    example_single_tool_call: {entrypoint: app.ts, domain: other}
policy_model:
  responses_api_models:
    random_model: {entrypoint: app.ts, tool_call_rate: 1, max_tool_turns: 1}
bench_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: bench_resources}
      model_server: {type: responses_api_models, name: policy_model}
`;

const NO_OP_AGENT = `
import { defineAgent } from "nemo-gym";
export default defineAgent({ run: () => ({ reward: 1, response: { output: [] } }) });
`;
const NO_OP_CONFIG = "noop_agent:\n  responses_api_agents:\n    noop: {entrypoint: app.ts}\n";

/** What whole runs cost: the command from start to metrics, files included, all its processes counted. */
export async function run(report: Report): Promise<void> {
  const cwd = await mkdtemp(path.join(tmpdir(), "bench-rollouts-"));
  try {
    await writeFile(path.join(cwd, "bench.yaml"), CONFIG);
    await writeRows(path.join(cwd, "in.jsonl"), ROLLOUTS);
    await measureRuns(report, cwd);
    await measureInFlight(report, cwd);
    await measureStart(report, cwd);
    if (process.env["BENCH_LONG"] === "1") await measureMillion(report, cwd);
    else report.check(`(1,000,000 rows: with BENCH_LONG=1 only)`, true);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const gym = [process.execPath, path.join(installRoot(), "bin/gym.js")];
const evalRun = [...gym, "eval", "run", "--config", "bench.yaml", "-i", "in.jsonl", "-o"];

async function measureRuns(report: Report, cwd: string): Promise<void> {
  const forms = [
    { label: "co-hosted", words: [], bound: COHOSTED_MS },
    { label: "a process per server", words: ["+hosting=process"], bound: PROCESSES_MS },
  ];
  for (const { label, words, bound } of forms) {
    const output = path.join(cwd, "out.jsonl");
    const { cpuMs, seconds } = await finished([...evalRun, output, ...words], cwd);
    const each = cpuMs / ROLLOUTS;
    report.add({ label: `a rollout, ${label}`, cpuMs: each, operations: ROLLOUTS });
    const rate = Math.round(ROLLOUTS / seconds);
    report.check(
      `${ROLLOUTS} rollouts ${label}: ${each.toFixed(3)} ms CPU each (at most ${bound}), ${rate} a second`,
      each <= bound,
    );
  }
}

/** Many rollouts that wait for their model must not slow down the others. */
async function measureInFlight(report: Report, cwd: string): Promise<void> {
  const slow = `++policy_model.responses_api_models.random_model.latency_ms=${LATENCY_MS}`;
  const plain = await finished([...evalRun, path.join(cwd, "plain.jsonl"), "--json"], cwd);
  const waiting = await finished(
    [...evalRun, path.join(cwd, "waiting.jsonl"), "--json", "--concurrency", String(IN_FLIGHT), slow],
    cwd,
  );
  // Each rollout waits for two answers of its model.
  const byLatency = IN_FLIGHT / ((2 * LATENCY_MS) / 1000);
  const withoutLatency = ROLLOUTS / plain.collectingSeconds;
  const ideal = Math.min(byLatency, withoutLatency);
  // The first answers come after their latency, and so do the last ones.
  const reached = ROLLOUTS / (waiting.collectingSeconds - (2 * LATENCY_MS) / 1000);
  report.add({
    label: `a rollout, ${IN_FLIGHT} in flight`,
    cpuMs: waiting.cpuMs / ROLLOUTS,
    operations: ROLLOUTS,
  });
  report.check(
    `${IN_FLIGHT} in flight, ${LATENCY_MS} ms latency: ${Math.round(reached)} rollouts a second, ${Math.round((100 * reached) / ideal)} % of ` +
      `the ideal ${Math.round(ideal)} (${Math.round(byLatency)} by latency, ${Math.round(withoutLatency)} without; at least ${100 * SHARE_OF_IDEAL} %)`,
    reached >= SHARE_OF_IDEAL * ideal,
  );
}

async function measureStart(report: Report, cwd: string): Promise<void> {
  const forms = [
    { label: "co-hosted", words: [], bound: START_COHOSTED_MS },
    { label: "four processes", words: ["+hosting=process"], bound: START_PROCESSES_MS },
  ];
  for (const { label, words, bound } of forms) {
    const head = `++head_server.port=${20_000 + Math.floor(Math.random() * 9_000)}`;
    const child = spawn(
      gym[0] ?? "",
      [...gym.slice(1), "env", "start", "--config", "bench.yaml", head, ...words],
      {
        cwd,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const pid = child.pid ?? 0;
    await said(child.stdout, "Press Ctrl-C to stop.");
    const cpuMs = treeCpuMs(pid);
    const processes = processTree(pid).length;
    report.add({ label: `env start to ready, ${label}`, cpuMs, operations: 1 });
    report.check(
      `env start ${label} (${processes} processes): ${Math.round(cpuMs)} ms CPU (at most ${bound})`,
      cpuMs <= bound,
    );
    if (words.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const idle = memoryMb(pid, "VmRSS");
      report.check(`idle servers co-hosted: ${Math.round(idle)} MB (at most ${IDLE_MB})`, idle <= IDLE_MB);
    }
    child.kill("SIGINT");
    await new Promise((resolve) => child.once("exit", resolve));
  }
}

async function measureMillion(report: Report, cwd: string): Promise<void> {
  const agent = path.join(cwd, "responses_api_agents", "noop");
  await mkdir(agent, { recursive: true });
  await writeFile(path.join(agent, "app.ts"), NO_OP_AGENT);
  await writeFile(path.join(cwd, "noop.yaml"), NO_OP_CONFIG);
  await writeRows(path.join(cwd, "million.jsonl"), LONG_ROWS);
  const words = [
    ...gym,
    "eval",
    "run",
    "--config",
    "noop.yaml",
    "-i",
    "million.jsonl",
    "-o",
    "million_out.jsonl",
  ];
  const { cpuMs, peakMb } = await finished(words, cwd);
  report.add({ label: "a rollout of a no-op agent", cpuMs: cpuMs / LONG_ROWS, operations: LONG_ROWS });
  report.check(
    `${LONG_ROWS} rows: ${Math.round(peakMb)} MB at the most (at most ${LONG_MB})`,
    peakMb <= LONG_MB,
  );
}

interface Finished {
  cpuMs: number;
  seconds: number;
  /** From the first rollout to the last, where the program tells it. */
  collectingSeconds: number;
  peakMb: number;
}

/** Runs a program to its end and watches it: its last sight is at most a few milliseconds before that. */
async function finished(command: readonly string[], cwd: string): Promise<Finished> {
  const started = performance.now();
  const child = spawn(command[0] ?? "", command.slice(1), { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const pid = child.pid ?? 0;
  const result: Finished = { cpuMs: 0, seconds: 0, collectingSeconds: 0, peakMb: 0 };
  const watch = () => {
    try {
      result.cpuMs = Math.max(result.cpuMs, treeCpuMs(pid));
      result.peakMb = Math.max(result.peakMb, memoryMb(pid, "VmHWM"));
    } catch {
      // It has just ended.
    }
  };
  const timer = setInterval(watch, 20);
  let [errors, rest] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith('{"event":"collected"')) continue;
      const { result: collected } = JSON.parse(line) as { result: { progress: { elapsed_seconds: number } } };
      result.collectingSeconds = collected.progress.elapsed_seconds;
    }
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${errors}`);
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

function said(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  let text = "";
  return new Promise((resolve, reject) => {
    stream.setEncoding("utf8");
    stream.on("data", (part: string) => {
      text += part;
      if (text.includes(words)) resolve();
    });
    stream.on("end", () => reject(new Error(`it ended before it said '${words}':\n${text}`)));
  });
}

async function writeRows(file: string, count: number): Promise<void> {
  const example = path.join(installRoot(), "resources_servers/example_single_tool_call/data/example.jsonl");
  const [first = ""] = (await readFile(example, "utf8")).split("\n");
  const { agent_ref: _agent, ...row } = JSON.parse(first) as Record<string, unknown>;
  const part = 1_000;
  await pipeline(function* () {
    for (let start = 0; start < count; start += part) {
      let text = "";
      for (let number = start; number < Math.min(count, start + part); number++)
        text += `${JSON.stringify({ ...row, number })}\n`;
      yield text;
    }
  }, createWriteStream(file));
}
