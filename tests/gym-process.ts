import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

export const repository = path.resolve(import.meta.dirname, "..");

export interface FinishedProcess {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file to run; an older command is started through a symbolic link with its name. */
  readonly program?: string;
}

/** Starts the built program and waits until it exits. */
export function runGym(
  argv: readonly string[],
  { cwd, env, program }: ProcessOptions,
): Promise<FinishedProcess> {
  if (!existsSync(path.join(repository, "dist/src/cli/process.js")))
    throw new Error("Run `npm run build` first.");
  const child = spawn(process.execPath, [program ?? path.join(repository, "bin/gym.js"), ...argv], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

/** A directory with these files; it is removed after the test. */
export async function project(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const directory = await realpath(await mkdtemp(path.join(os.tmpdir(), "gym-test-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, file)), { recursive: true });
    await writeFile(path.join(directory, file), content);
  }
  return directory;
}

/** Environment variables that programs need for the internet: certificates and proxies. */
export function networkVariables(): Record<string, string> {
  const names = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|https?_proxy|no_proxy|npm_config_(registry|cafile))$/i;
  const given = Object.entries(process.env).filter(([name]) => names.test(name));
  return Object.fromEntries(given) as Record<string, string>;
}
