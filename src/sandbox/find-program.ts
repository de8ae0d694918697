import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { SandboxUnavailableError } from "./errors.ts";

/** The full path of a program. Throws an error with `advice` if it is missing. */
export function findProgram(name: string, advice: string, env: NodeJS.ProcessEnv = process.env): string {
  const file = locate(name, env);
  if (file !== undefined) return file;
  throw new SandboxUnavailableError(`The program '${name}' is not on the PATH. ${advice}`);
}

export function isInstalled(name: string): boolean {
  return locate(name, process.env) !== undefined;
}

function locate(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const directories = (env["PATH"] ?? "").split(path.delimiter);
  return directories.map((directory) => path.join(directory || ".", name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // It does not exist in this directory.
    return false;
  }
}
