import { execFile, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { project, repository } from "../gym-process.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * A project that depends on this package. `node_modules` contains the package as `npm pack` creates it, and links to the libraries
 * of this repository, so nothing is downloaded.
 */
export async function packedProject(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await project(files);
  const modules = path.join(directory, "node_modules");
  const own = path.join(modules, "nemo-gym");
  await mkdir(own, { recursive: true });
  await run("tar", ["-xzf", await packed(), "-C", own, "--strip-components=1"]);
  await linkLibraries(modules);
  await linkPrograms(own, path.join(modules, ".bin"));
  return directory;
}

/** Packing takes seconds, so it runs once for all projects of a test file. */
let tarball: Promise<string> | undefined;

export function packed(): Promise<string> {
  tarball ??= pack();
  return tarball;
}

/** The tarball of `npm pack`, without a second build: its `prepack` shrinks the compiled code in the same way. */
export async function pack(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "gym-pack-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", directory], {
    cwd: repository,
    maxBuffer: MAX_OUTPUT,
  });
  const [file = ""] = await readdir(directory);
  const packed = path.join(directory, file);
  await run("tar", ["-xzf", packed, "-C", directory]);
  const shrink = path.join(repository, "scripts/shrink-package.mjs");
  await run(process.execPath, [shrink, path.join(directory, "package")]);
  await run("tar", ["-czf", packed, "-C", directory, "package"]);
  return packed;
}

async function linkLibraries(modules: string): Promise<void> {
  const source = path.join(repository, "node_modules");
  for (const name of await readdir(source)) {
    if (name === ".bin" || name === "nemo-gym" || existsSync(path.join(modules, name))) continue;
    await symlink(path.join(source, name), path.join(modules, name));
  }
}

/** Links the `bin` of a package like npm. */
async function linkPrograms(own: string, bin: string): Promise<void> {
  await mkdir(bin);
  const content = JSON.parse(await readFile(path.join(own, "package.json"), "utf8")) as {
    bin: Record<string, string>;
  };
  for (const [name, file] of Object.entries(content.bin))
    await symlink(path.join(own, file), path.join(bin, name));
  await symlink(path.join(repository, "node_modules/.bin/tsc"), path.join(bin, "tsc"));
}

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the project's `node_modules/.bin`. */
export async function runBin(cwd: string, name: string, ...words: string[]): Promise<Finished> {
  const child = spawn(process.execPath, [path.join(cwd, "node_modules/.bin", name), ...words], {
    cwd,
    env: environment(cwd),
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
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? -1));
  });
  return { exitCode, stdout, stderr };
}

/** Starts a program that keeps running until it is stopped; resolves when it has printed the expected text. */
export async function startBin(cwd: string, ready: string, name: string, ...words: string[]) {
  const child = spawn(process.execPath, [path.join(cwd, "node_modules/.bin", name), ...words], {
    cwd,
    env: environment(cwd),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  const stop = async () => {
    child.kill("SIGINT");
    return ended;
  };
  onTestFinished(async () => void (child.exitCode === null && child.kill("SIGKILL")));
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const look = (text: string) => {
      output += text;
      if (output.includes(ready)) resolve();
    };
    child.stdout.setEncoding("utf8").on("data", look);
    child.stderr.setEncoding("utf8").on("data", look);
    child.on("error", reject);
    child.on("close", (code) =>
      reject(new Error(`${name} ended with ${code} before '${ready}':\n${output}`)),
    );
  });
  return { stop };
}

function environment(cwd: string): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], HOME: cwd };
}
