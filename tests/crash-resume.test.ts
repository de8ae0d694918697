import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "./gym-process.ts";
import { sortedLines as rowsWithoutTimes } from "./support/queue-runs.ts";

const KILLS = 50;
const ROLLOUTS = 2_000;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-crash-"));
  const row = JSON.parse(
    readFileSync(
      join(repository, "resources_servers/example_session_state_mgmt/data/example.jsonl"),
      "utf8",
    ).split("\n")[0] ?? "",
  ) as object;
  const rows = Array.from({ length: ROLLOUTS / 2 }, (_, number) => JSON.stringify({ ...row, number }));
  writeFileSync(join(folder, "in.jsonl"), `${rows.join("\n")}\n`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(output: string, latencyMs: number) {
  const words = [
    "bin/gym.js",
    "eval",
    "run",
    "--resources-server",
    "example_session_state_mgmt",
    "--model-type",
    "random_model",
    "--input",
    join(folder, "in.jsonl"),
    "--output",
    join(folder, output),
    "--num-repeats",
    "2",
    "--concurrency",
    "8",
    "--resume",
    "--json",
    `++policy_model.responses_api_models.random_model.latency_ms=${latencyMs}`,
  ];
  const child = spawn(process.execPath, words, { cwd: repository, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const collecting = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes('"event":"rollout"')) resolve();
    });
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { child, collecting, ended, stderr: () => stderr };
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const sortedLines = (output: string) => rowsWithoutTimes(join(folder, output));

it(`loses and duplicates no rollout after ${KILLS} kills at random moments`, {
  timeout: 600_000,
}, async () => {
  let kills = 0;
  while (kills < KILLS) {
    const { child, collecting, ended, stderr } = start("killed.jsonl", 8);
    // Mostly while results are being written, sometimes during the start.
    if (kills % 10 === 9) await sleep(Math.random() * 600);
    else {
      await Promise.race([collecting, ended]);
      await sleep(Math.random() * 120);
    }
    child.kill("SIGKILL");
    const code = await ended;
    if (code !== null && code !== 0) throw new Error(stderr());
    if (code === 0) break;
    kills++;
  }
  expect(kills).toBe(KILLS);
  const last = start("killed.jsonl", 8);
  expect(await last.ended, last.stderr()).toBe(0);
  const whole = start("whole.jsonl", 8);
  expect(await whole.ended, whole.stderr()).toBe(0);

  const lines = sortedLines("killed.jsonl");
  const keys = new Set(
    lines.map((line) => {
      const { _ng_task_index, _ng_rollout_index } = JSON.parse(line) as Record<string, number>;
      return `${_ng_task_index}-${_ng_rollout_index}`;
    }),
  );
  expect(lines).toHaveLength(ROLLOUTS);
  expect(keys.size).toBe(ROLLOUTS);
  expect(lines).toEqual(sortedLines("whole.jsonl"));
  expect(existsSync(join(folder, "killed.jsonl.lock"))).toBe(false);
});
