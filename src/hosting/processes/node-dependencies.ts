import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorMessage, GymError } from "../../errors.ts";

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 30 * 60_000;

/**
 * Installs a server folder's libraries when they are missing or its package.json has changed. Returns whether it did.
 */
export async function installNodeDependencies(
  server: string,
  directory: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const manifest = readFileSync(join(directory, "package.json"), "utf8");
  const lockFile = join(directory, "package-lock.json");
  const lock = existsSync(lockFile) ? readFileSync(lockFile, "utf8") : "";
  const digest = createHash("sha256").update(manifest).update(lock).digest("hex");
  const marker = join(directory, "node_modules", ".nemo-gym-installed");
  if (existsSync(marker) && readFileSync(marker, "utf8") === digest) return false;
  const command = lock ? "ci" : "install";
  try {
    await run(
      "npm",
      [command, "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"].filter(
        (word) => lock === "" || word !== "--no-package-lock",
      ),
      {
        cwd: directory,
        timeout: INSTALL_LIMIT_MS,
        ...(signal && { signal }),
      },
    );
  } catch (error) {
    const detail = ((error as { stderr?: string }).stderr || errorMessage(error)).trim().slice(-2_000);
    throw new GymError("SERVER_INSTALL", `The packages of server '${server}' cannot be installed: ${detail}`);
  }
  writeFileSync(marker, digest);
  return true;
}
