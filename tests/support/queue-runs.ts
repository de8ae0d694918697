import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { project, repository } from "../gym-process.ts";

/** A row of the environment `mcqa`. */
export const ROW =
  readFileSync(join(repository, "resources_servers/mcqa/data/example.jsonl"), "utf8").split("\n")[0] ?? "";
export const EVALUATION = ["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model"];

/** The rows of a file, sorted and without their durations, which differ between runs. */
export const sortedLines = (file: string) =>
  readFileSync(file, "utf8")
    .replace(/,"_ng_timing":{(?:[^{}]|{[^{}]*})*}/g, "")
    .trimEnd()
    .split("\n")
    .sort();

/** Starts the program without waiting for it; its output is kept. */
export function startGym(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  /** Runs it as another user. */
  uid?: number,
): { child: ChildProcess; ended: Promise<number | null>; text(): string } {
  const child = spawn(process.execPath, [join(repository, "bin/gym.js"), ...words], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    uid,
    gid: uid,
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended, text: () => text };
}

/** Waits for at most 90 seconds: on a busy machine a program needs half a minute to start. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 90_000;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`waited for ${what} in vain`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A directory with this many rows in `rows.jsonl`. */
export async function rows(count: number): Promise<string> {
  const directory = await project({});
  const lines = Array.from({ length: count }, (_, number) => JSON.stringify({ ...JSON.parse(ROW), number }));
  writeFileSync(join(directory, "rows.jsonl"), `${lines.join("\n")}\n`);
  return directory;
}
