import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { installRoot } from "../src/config/paths.ts";
import { processTree } from "../src/servers/hosting/processes/process-tree.ts";
import { treeMemoryMb } from "./process-usage.ts";

/** Reading /proc takes CPU from the program that is measured, so memory is sampled rarely. */
const SAMPLE_EVERY_MS = 200;
const ROWS_AT_ONCE = 1_000;
const QUOTED_CHARACTERS = 4_000;

export interface FinishedRun {
  /** CPU of the program and all its processes. */
  cpuMs: number;
  seconds: number;
  /** Seconds from the first rollout to the last; 0 if no rollouts were collected. */
  collectingSeconds: number;
  /** Maximum memory of all its processes. */
  peakMb: number;
}

/** Started like by a user and not with `node`, so that it runs with its own settings. */
const GYM = path.join(installRoot(), "bin/gym.js");

function spawnProgram(
  [program = "", ...args]: readonly string[],
  cwd: string,
): ChildProcess & { pid: number } {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  return Object.assign(child, { pid: child.pid ?? 0 });
}

/** Runs `gym` until it exits and measures its CPU and memory. */
export async function finishedGym(args: readonly string[], cwd: string): Promise<FinishedRun> {
  const result = await finishedProgram([GYM, ...args], cwd);
  result.collectingSeconds = await collectingSeconds(args, cwd);
  return result;
}

/** Runs a program until it exits. The kernel counts its CPU; its memory is sampled. */
export async function finishedProgram(command: readonly string[], cwd: string): Promise<FinishedRun> {
  const started = performance.now();
  const child = spawnProgram(command, cwd);
  const cpuBefore = endedChildrenCpuMs();
  const result: FinishedRun = { cpuMs: 0, seconds: 0, collectingSeconds: 0, peakMb: 0 };
  const timer = setInterval(() => {
    result.peakMb = Math.max(result.peakMb, treeMemoryMb(child.pid, "VmRSS"));
  }, SAMPLE_EVERY_MS);
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-QUOTED_CHARACTERS);
  });
  child.stdout?.resume();
  const [code] = (await once(child, "exit")) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${errors}`);
  result.seconds = (performance.now() - started) / 1000;
  result.cpuMs = endedChildrenCpuMs() - cpuBefore;
  return result;
}

/** CPU of all children of this process that have exited, and of their children. */
function endedChildrenCpuMs(): number {
  return processTree(process.pid)[0]?.endedChildrenCpuMs ?? 0;
}

/** The run writes its progress to a file next to its output. */
async function collectingSeconds(args: readonly string[], cwd: string): Promise<number> {
  const output = args[args.indexOf("-o") + 1] ?? "";
  const file = path.join(cwd, output.replace(/\.jsonl$/, "_progress.json"));
  const text = await readFile(file, "utf8").catch(() => '{"elapsed_seconds":0}');
  return (JSON.parse(text) as { elapsed_seconds: number }).elapsed_seconds;
}

/** Starts `gym`, waits for a text in its output, passes its process id to `use`, and stops it with Ctrl-C. */
export async function whileGymRuns<T>(
  args: readonly string[],
  cwd: string,
  readyText: string,
  use: (pid: number) => Promise<T> | T,
): Promise<T> {
  const child = spawnProgram([GYM, ...args], cwd);
  const exited = once(child, "exit");
  try {
    await printed(child, readyText);
    return await use(child.pid);
  } finally {
    child.kill("SIGINT");
    await exited;
  }
}

/** Waits until the process prints the text. */
function printed(child: ChildProcess, text: string): Promise<void> {
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (part: string) => {
      output += part;
      if (output.includes(text)) resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("exit", () => reject(new Error(`gym ended before it printed '${text}':\n${output}`)));
  });
}

/** An input file with this many rows, made from the first example row of example_single_tool_call. */
export async function writeRows(file: string, count: number): Promise<void> {
  const example = path.join(installRoot(), "resources_servers/example_single_tool_call/data/example.jsonl");
  const [first = ""] = (await readFile(example, "utf8")).split("\n");
  const { agent_ref: _agent, ...row } = JSON.parse(first) as Record<string, unknown>;
  await pipeline(function* () {
    for (let start = 0; start < count; start += ROWS_AT_ONCE) {
      let text = "";
      for (let number = start; number < Math.min(count, start + ROWS_AT_ONCE); number++)
        text += `${JSON.stringify({ ...row, number })}\n`;
      yield text;
    }
  }, createWriteStream(file));
}

/** `simple_agent` on example_single_tool_call with the given model server: seed, model, tool, model, verify. */
export function singleToolConfig(model: string): string {
  return `
bench_resources:
  resources_servers:
    example_single_tool_call: {entrypoint: app.ts, domain: other}
policy_model:
  responses_api_models:
    ${model}
bench_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: bench_resources}
      model_server: {type: responses_api_models, name: policy_model}
`;
}
