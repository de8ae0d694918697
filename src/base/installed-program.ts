import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

export function isInstalled(name: string): boolean {
  return locateProgram(name) !== undefined;
}

/** The full path of a program on the `PATH`. */
export function locateProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
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
