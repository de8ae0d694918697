import { createHash } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { GymError } from "../../../base/errors.ts";
import { makeDirectory } from "../../../base/files/door.ts";
import { runProcess } from "../../../sandbox/door.ts";

/** Harnesses have 100 to 450 MB, which takes long on slow connections. */
const INSTALL_TIMEOUT_MS = 20 * 60_000;
const MAX_LOG_BYTES = 1024 * 1024;

/** The npm package of a harness, and the program in it. */
export interface HarnessPackage {
  package: string;
  version: string;
  /** The name of the program in the package's `bin`. */
  command: string;
  /** The oldest major version of Node that runs it. */
  minNode?: number;
  /** The folder of the Node that runs it. Default: that of this process. */
  nodeFolder?: string | null | undefined;
}

/** A harness could not be installed. */
export class HarnessError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("HARNESS_UNAVAILABLE", message, options);
  }
}

/**
 * The directory of installed harnesses: one folder per package and version, shared by all runs of the user. For root it
 * is not in the home directory, because sandboxes of root run as unprivileged users that cannot read it.
 */
export function harnessRoot(env: NodeJS.ProcessEnv = process.env): string {
  const home = process.getuid?.() === 0 ? "/var/cache" : path.join(os.homedir(), ".cache");
  return env["NEMO_GYM_HARNESS_DIR"] ?? path.join(env["XDG_CACHE_HOME"] ?? home, "nemo-gym", "harnesses");
}

/** The program file of a harness; undefined when the harness is not installed. */
export async function installedProgram(harness: HarnessPackage): Promise<string | undefined> {
  return programIn(folderOf(harness), harness);
}

/**
 * Installs a harness from npm if it is missing. The folder is renamed when the installation is complete, so an
 * interrupted installation is repeated, and processes that install at the same time do not conflict.
 */
export async function installHarness(harness: HarnessPackage, signal?: AbortSignal): Promise<string> {
  const present = await installedProgram(harness);
  if (present !== undefined) return present;
  const folder = folderOf(harness);
  const fresh = `${folder}.${process.pid}.installing`;
  await makeDirectory(fresh);
  try {
    // The manifest makes npm install into this folder. --prefix would hide the user's global npm configuration.
    await writeFile(path.join(fresh, "package.json"), JSON.stringify({ private: true }));
    const outcome = await runProcess({
      program: process.platform === "win32" ? "npm.cmd" : "npm",
      args: ["install", "--no-audit", "--no-fund", "--no-save", named(harness)],
      cwd: fresh,
      timeoutMs: INSTALL_TIMEOUT_MS,
      maxOutputBytes: MAX_LOG_BYTES,
      signal,
    }).catch((error: unknown) => {
      throw new HarnessError(`npm cannot be started to install ${named(harness)}.`, { cause: error });
    });
    signal?.throwIfAborted();
    if (outcome.code !== 0 || (await programIn(fresh, harness)) === undefined)
      throw new HarnessError(
        `npm could not install ${named(harness)}${outcome.timedOut ? " in time" : ""}: ${outcome.stderr.trim().slice(-2_000)}`,
      );
    await rename(fresh, folder).catch(async (error: unknown) => {
      if ((await installedProgram(harness)) === undefined) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  const installed = await installedProgram(harness);
  if (installed === undefined) throw new HarnessError(`${named(harness)} is no longer in ${folder}.`);
  return installed;
}

/** The Node that runs a harness. */
export function nodeOf({ package: name, minNode = 0, nodeFolder }: HarnessPackage): string {
  if (nodeFolder != null) return path.join(nodeFolder, "node");
  if (Number.parseInt(process.versions.node, 10) < minNode)
    throw new HarnessError(
      `${name} needs Node ${minNode} or newer, and this is Node ${process.versions.node}. Run gym with a newer Node, or set node_bin_dir to the folder of one.`,
    );
  return process.execPath;
}

/** The folder of the installation that a program belongs to: of packages, or of a Python environment. */
export function packageFolder(program: string): string {
  const end = program.indexOf(`${path.sep}node_modules${path.sep}`);
  return end < 0 ? path.dirname(path.dirname(program)) : program.slice(0, end);
}

const named = ({ package: name, version }: HarnessPackage) => `${name}@${version}`;

function folderOf(harness: HarnessPackage): string {
  const readable = named(harness).replace(/[^A-Za-z0-9.@-]+/g, "_");
  const digest = createHash("sha256").update(named(harness)).digest("hex").slice(0, 8);
  return path.join(harnessRoot(), `${readable}-${digest}`);
}

async function programIn(folder: string, harness: HarnessPackage): Promise<string | undefined> {
  const home = path.join(folder, "node_modules", ...harness.package.split("/"));
  let manifest: { bin?: string | Record<string, string> };
  try {
    manifest = JSON.parse(await readFile(path.join(home, "package.json"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const file = typeof manifest.bin === "string" ? manifest.bin : manifest.bin?.[harness.command];
  return file === undefined ? undefined : path.join(home, file);
}
