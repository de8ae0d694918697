import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorMessage, GymError } from "../../errors.ts";
import type { HostedInstance } from "../cohost.ts";

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 30 * 60_000;
const MARKER = "nemo-gym-requirements.sha256";

/**
 * The interpreter for a Python server: the one its config names (`python_executable`), else a virtual environment made
 * from its requirements.txt, else the system's when it requires nothing.
 */
export async function pythonEnvironment(
  instance: HostedInstance,
  globalConfig: Readonly<Record<string, unknown>>,
): Promise<string> {
  const named = instance.config["python_executable"] ?? globalConfig["python_executable"];
  if (typeof named === "string") return named;
  const { directory } = instance.code;
  const requirements = readRequirements(directory);
  const root = globalConfig["uv_venv_dir"];
  const venv =
    typeof root === "string"
      ? join(root, instance.type, instance.implementation, ".venv")
      : join(directory, ".venv");
  const python = join(venv, "bin", "python");
  if (existsSync(python) && globalConfig["skip_venv_if_present"] === true) return python;
  if (requirements === "") return existsSync(python) ? python : "python3";
  const digest = createHash("sha256").update(requirements).digest("hex");
  const marker = join(venv, MARKER);
  if (existsSync(python) && existsSync(marker) && readFileSync(marker, "utf8") === digest) return python;
  console.log(`installing the Python packages of ${instance.type}/${instance.implementation} into ${venv}`);
  try {
    mkdirSync(venv, { recursive: true });
    await run("python3", ["-m", "venv", venv], { timeout: INSTALL_LIMIT_MS });
    await run(python, ["-m", "pip", "install", "-q", "-r", "requirements.txt"], {
      cwd: directory,
      timeout: INSTALL_LIMIT_MS,
    });
    writeFileSync(marker, digest);
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr;
    const detail = (stderr || errorMessage(error)).trim().slice(-2_000);
    throw new GymError(
      "SERVER_INSTALL",
      `The Python packages of '${instance.name}' cannot be installed: ${detail}`,
    );
  }
  return python;
}

function readRequirements(directory: string): string {
  const file = join(directory, "requirements.txt");
  if (!existsSync(file)) return "";
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter(Boolean)
    .join("\n");
}
