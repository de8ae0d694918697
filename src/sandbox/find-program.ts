import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { SandboxUnavailableError } from "./errors.ts";

/** The full path of a program, or an error that says how to get it. */
export function findProgram(name: string, advice: string, env: NodeJS.ProcessEnv = process.env): string {
  for (const directory of (env["PATH"] ?? "").split(path.delimiter)) {
    const file = path.join(directory === "" ? "." : directory, name);
    if (isExecutable(file)) return file;
  }
  throw new SandboxUnavailableError(`The program '${name}' is not on the PATH. ${advice}`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not here; the next directory may have it.
    return false;
  }
}
