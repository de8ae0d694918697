import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, GymError } from "../../errors.ts";
import type { HostedInstance } from "../cohost.ts";

const INSTALL_LIMIT_MS = 30 * 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MARKER = "nemo-gym-requirements.sha256";

/**
 * The interpreter for a Python server: the one its config names (`python_executable`), else a virtual environment made
 * from its requirements.txt or pyproject.toml, else the system's when it requires nothing.
 */
export async function pythonEnvironment(
  instance: HostedInstance,
  globalConfig: Readonly<Record<string, unknown>>,
): Promise<string> {
  const named = instance.config["python_executable"] ?? globalConfig["python_executable"];
  if (typeof named === "string") return named;
  const { directory } = instance.code;
  const root = globalConfig["uv_venv_dir"];
  const venv =
    typeof root === "string"
      ? join(root, instance.type, instance.implementation, ".venv")
      : join(directory, ".venv");
  const python = join(venv, "bin", "python");
  const made = existsSync(python) && existsSync(join(venv, "bin", "activate"));
  if (made && globalConfig["skip_venv_if_present"] === true) return python;
  const wanted = requirementsOf(instance.name, directory);
  if (wanted === undefined) return existsSync(python) ? python : "python3";
  const digest = createHash("sha256").update(wanted.text).digest("hex");
  const marker = join(venv, MARKER);
  if (existsSync(python) && existsSync(marker) && readFileSync(marker, "utf8") === digest) return python;
  console.log(`installing the Python packages of ${instance.type}/${instance.implementation} into ${venv}`);
  const verbose = globalConfig["pip_install_verbose"] === true;
  try {
    mkdirSync(venv, { recursive: true });
    await run("python3", ["-m", "venv", venv], directory);
    const arguments_ = ["-m", "pip", "install", verbose ? "-v" : "-q", ...wanted.arguments];
    const output = await run(python, arguments_, directory, wanted.text);
    if (verbose) console.log(output.trimEnd());
    writeFileSync(marker, digest);
  } catch (error) {
    const detail = errorMessage(error).trim().slice(-2_000);
    throw new GymError(
      "SERVER_INSTALL",
      `The Python packages of '${instance.name}' cannot be installed: ${detail}`,
    );
  }
  return python;
}

interface Requirements {
  /** What decides whether an environment is up to date; also the input of the installer. */
  text: string;
  arguments: string[];
}

/** What a server needs; undefined: nothing. */
function requirementsOf(name: string, directory: string): Requirements | undefined {
  const project = join(directory, "pyproject.toml");
  const list = join(directory, "requirements.txt");
  if (existsSync(project) && existsSync(list)) {
    throw new GymError(
      "SERVER_INSTALL",
      `The folder of '${name}' has both pyproject.toml and requirements.txt (${directory}): which of them holds its packages? Remove the other.`,
    );
  }
  // Beside a checkout of the Python gym the relative path to it leads there; elsewhere the published package stands in.
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
  const published = own.length < lines.length ? ["nemo-gym"] : [];
  return { text: `${[...published, ...own].join("\n")}\n`, arguments: ["-r", "/dev/stdin"] };
}

function run(command: string, words: string[], cwd: string, input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, timeout: INSTALL_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile(command, words, options, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr || error.message));
      else resolve(stdout);
    });
    // A program that does not read its input closes it early; that is no failure.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
