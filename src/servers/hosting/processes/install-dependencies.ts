import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { errorMessage, GymError } from "../../../base/errors.ts";
import type { HostedInstance } from "../cohost.ts";

const INSTALL_LIMIT_MS = 30 * 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MARKER = "nemo-gym-requirements.sha256";
const FILTERED_REQUIREMENTS = ".nemo-gym-requirements.txt";

export interface PythonSettings {
  readonly globalConfig: Readonly<Record<string, unknown>>;
  readonly installRoot: string;
  readonly log: (line: string) => void;
}

/** Installs a server folder's libraries when they are missing or its package.json has changed, after `onInstall`. */
export async function installNodeDependencies(
  server: string,
  directory: string,
  signal?: AbortSignal,
  onInstall?: () => void,
): Promise<void> {
  const manifest = readFileSync(join(directory, "package.json"), "utf8");
  const lockFile = join(directory, "package-lock.json");
  const lock = existsSync(lockFile) ? readFileSync(lockFile, "utf8") : "";
  const digest = createHash("sha256").update(manifest).update(lock).digest("hex");
  const marker = join(directory, "node_modules", ".nemo-gym-installed");
  if (existsSync(marker) && readFileSync(marker, "utf8") === digest) return;
  onInstall?.();
  const command = lock === "" ? ["install", "--no-package-lock"] : ["ci"];
  try {
    await run("npm", [...command, "--ignore-scripts", "--no-audit", "--no-fund"], directory, signal);
  } catch (error) {
    const detail = errorMessage(error).trim().slice(-2_000);
    throw new GymError("SERVER_INSTALL", `The packages of server '${server}' cannot be installed: ${detail}`);
  }
  writeFileSync(marker, digest);
}

/**
 * The interpreter for a Python server: `python_executable` of its config, else a virtual environment created from its
 * requirements.txt or pyproject.toml, else the system's if it has no requirements.
 */
export async function pythonEnvironment(instance: HostedInstance, settings: PythonSettings): Promise<string> {
  const { globalConfig, log } = settings;
  const named = instance.config["python_executable"] ?? globalConfig["python_executable"];
  if (typeof named === "string") return named;
  const { directory } = instance.code;
  const venv = environmentFolder(instance, settings);
  const python = join(venv, "bin", "python");
  const made = existsSync(python) && existsSync(join(venv, "bin", "activate"));
  if (made && globalConfig["skip_venv_if_present"] === true) return python;
  const wanted = requirementsOf(instance.name, directory);
  if (wanted === undefined) return existsSync(python) ? python : "python3";
  const digest = createHash("sha256").update(wanted.text).digest("hex");
  const marker = join(venv, MARKER);
  if (made && existsSync(marker) && readFileSync(marker, "utf8") === digest) return python;
  log(`installing the Python packages of ${instance.type}/${instance.implementation} into ${venv}`);
  try {
    const output = await installPackages(wanted, { venv, python, directory }, settings);
    if (globalConfig["pip_install_verbose"] === true) log(output.trimEnd());
    writeFileSync(marker, digest);
  } catch (error) {
    // An incomplete environment would be mistaken for a complete one.
    if (!made) rmSync(venv, { recursive: true, force: true });
    const detail = errorMessage(error).trim().slice(-2_000);
    throw new GymError(
      "SERVER_INSTALL",
      `The Python packages of '${instance.name}' cannot be installed: ${detail}`,
    );
  }
  return python;
}

/** In the server's folder, unless `uv_venv_dir` names a directory other than the install root or working directory. */
function environmentFolder(instance: HostedInstance, { globalConfig, installRoot }: PythonSettings): string {
  const root = globalConfig["uv_venv_dir"];
  const isDefault = typeof root !== "string" || root === installRoot || root === process.cwd();
  return isDefault
    ? join(instance.code.directory, ".venv")
    : join(root, instance.type, instance.implementation, ".venv");
}

/** Uses uv if it is on PATH, else venv and pip. */
async function installPackages(
  wanted: Requirements,
  { venv, python, directory }: { venv: string; python: string; directory: string },
  { globalConfig, log }: PythonSettings,
): Promise<string> {
  const uv = onPath("uv");
  const version = globalConfig["python_version"];
  const verbosity = globalConfig["pip_install_verbose"] === true ? "-v" : "-q";
  mkdirSync(dirname(venv), { recursive: true });
  const file = join(directory, FILTERED_REQUIREMENTS);
  try {
    if (wanted.filtered) writeFileSync(file, wanted.text);
    if (uv !== undefined) {
      const wish = typeof version === "string" ? ["--python", version] : [];
      await run(uv, ["venv", "-q", "--allow-existing", ...wish, venv], directory);
      return await run(uv, ["pip", "install", verbosity, "--python", python, ...wanted.arguments], directory);
    }
    await run(systemPython(version, log), ["-m", "venv", venv], directory);
    return await run(python, ["-m", "pip", "install", verbosity, ...wanted.arguments], directory);
  } finally {
    rmSync(file, { force: true });
  }
}

/** The interpreter with the configured version; without uv, only installed ones are available. */
function systemPython(version: unknown, log: (line: string) => void): string {
  if (typeof version !== "string") return "python3";
  const wanted = `python${version.split(".").slice(0, 2).join(".")}`;
  if (onPath(wanted) !== undefined) return wanted;
  log(
    `warning: python_version is ${version}, but there is neither ${wanted} nor uv on PATH; python3 is used`,
  );
  return "python3";
}

function onPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

interface Requirements {
  /** Decides whether an environment is up to date. */
  text: string;
  /** Whether the text differs from the server's requirements.txt and needs a separate file. */
  filtered?: boolean;
  arguments: string[];
}

/** The requirements of a server; undefined without requirements. */
function requirementsOf(name: string, directory: string): Requirements | undefined {
  const project = join(directory, "pyproject.toml");
  const list = join(directory, "requirements.txt");
  if (existsSync(project) && existsSync(list)) {
    throw new GymError(
      "SERVER_INSTALL",
      `The folder of '${name}' has both pyproject.toml and requirements.txt (${directory}). Keep only the file that lists its packages.`,
    );
  }
  // In a checkout of the Python gym the relative path to it is valid; elsewhere the published package replaces it.
  const inCheckout = existsSync(join(directory, "..", "..", "pyproject.toml"));
  if (existsSync(project)) {
    const published = inCheckout ? [] : ["nemo-gym"];
    return { text: readFileSync(project, "utf8"), arguments: [...published, "-e", "."] };
  }
  if (!existsSync(list)) return undefined;
  const lines = readFileSync(list, "utf8")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*/, "").trim())
    .filter(Boolean);
  if (lines.length === 0) return undefined;
  const own = lines.filter((line) => inCheckout || !line.includes("../.."));
  if (own.length === lines.length)
    return { text: `${lines.join("\n")}\n`, arguments: ["-r", "requirements.txt"] };
  return {
    text: `${["nemo-gym", ...own].join("\n")}\n`,
    filtered: true,
    arguments: ["-r", FILTERED_REQUIREMENTS],
  };
}

/** When the signal fires, it settles only after the program has ended. */
function run(command: string, args: string[], cwd: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, timeout: INSTALL_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      signal?.removeEventListener("abort", stop);
      if (error) reject(new Error(stderr || error.message));
      else resolve(stdout);
    });
    const stop = () => child.kill();
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop);
  });
}
