import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { GymError } from "../errors.ts";
import type { ServerType } from "./definitions.ts";

/** The names an entry file may have when the configured one is not there (`app.py` in the original's configs). */
const DEFINITION_FILES = ["app.ts", "app.js", "app.mjs"];

/** Where a server's code is, and what it needs to run. */
export interface ServerCode {
  directory: string;
  /** Absolute path of the file to run. */
  entry: string;
  language: "node" | "python";
  /** Whether the folder brings libraries of its own (a package.json with dependencies). */
  hasOwnDependencies: boolean;
}

export class ServerCodeError extends GymError {
  constructor(message: string) {
    super("SERVER_CODE", message);
  }
}

/** Finds the folder `<type>/<implementation>` under the roots and the file in it that runs the server. */
export function locateServer(
  instance: { name: string; type: ServerType; implementation: string; entrypoint: string },
  roots: readonly string[],
): ServerCode {
  const { name, type, implementation, entrypoint } = instance;
  if (isAbsolute(entrypoint) || entrypoint.split(/[\\/]/).includes("..")) {
    throw new ServerCodeError(
      `Server '${name}': entrypoint '${entrypoint}' must be a path inside ${type}/${implementation}.`,
    );
  }
  const candidates = roots.map((root) => join(root, type, implementation));
  for (const directory of candidates) {
    const entry = entryIn(directory, entrypoint);
    if (!entry) continue;
    const language = entry.endsWith(".py") ? "python" : "node";
    return {
      directory,
      entry,
      language,
      hasOwnDependencies: language === "node" && ownDependencies(directory),
    };
  }
  const existing = candidates.filter((directory) => existsSync(directory));
  const tried = (existing.length > 0 ? existing : candidates).map((path) => `  - ${path}`).join("\n");
  const wanted = existing.length > 0 ? `'${entrypoint}' (or app.ts)` : `a folder ${type}/${implementation}`;
  throw new ServerCodeError(`Server '${name}' needs ${wanted}, which was not found. Looked in:\n${tried}`);
}

function entryIn(directory: string, entrypoint: string): string | undefined {
  for (const file of [entrypoint, ...DEFINITION_FILES]) {
    const path = resolve(directory, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  }
  return undefined;
}

function ownDependencies(directory: string): boolean {
  const file = join(directory, "package.json");
  if (!existsSync(file)) return false;
  try {
    const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as { dependencies?: object };
    return Object.keys(dependencies ?? {}).some((name) => name !== "nemo-gym");
  } catch (error) {
    throw new ServerCodeError(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}

/** The compiled twin of a built-in source file, when there is one that is not older. */
export function compiledTwin(entry: string, installRoot: string): string | undefined {
  if (!entry.endsWith(".ts")) return undefined;
  const path = relative(realpathSync(installRoot), realpathSync(entry));
  if (path.startsWith("..") || isAbsolute(path) || path.split(sep).includes("node_modules")) return undefined;
  const twin = join(installRoot, "dist", path.replace(/\.ts$/, ".js"));
  const compiled = statSync(twin, { throwIfNoEntry: false });
  return compiled && compiled.mtimeMs >= statSync(entry).mtimeMs ? twin : undefined;
}
