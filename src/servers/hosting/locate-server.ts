import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { GymError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { ServerType } from "../definitions/definitions.ts";

/** Extensions of server files: configs of the original name `app.py`, a built package has `app.js`. */
const ENTRY_FILE = /\.(?:py|ts|js|mjs)$/;
const TWINS = [".ts", ".js", ".mjs"];

/** The location of a server's code, and its requirements. */
export interface ServerCode {
  directory: string;
  /** Absolute path of the file to run. */
  entry: string;
  language: "node" | "python";
  /** Whether the folder has its own libraries (a package.json with dependencies). */
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
  if (implementation.split(/[\\/]/).includes("..")) {
    throw new ServerCodeError(
      `Server '${name}': '${implementation}' must be the name of a folder of ${type}.`,
    );
  }
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
  throw notFound(instance, candidates);
}

function notFound(
  { name, type, implementation, entrypoint }: Parameters<typeof locateServer>[0],
  candidates: readonly string[],
): ServerCodeError {
  const existing = candidates.filter((directory) => existsSync(directory));
  const tried = (existing.length > 0 ? existing : candidates).map((path) => `  - ${path}`).join("\n");
  if (existing.length === 0)
    return new ServerCodeError(
      `Server '${name}' needs a folder ${type}/${implementation}, which was not found. Looked in:\n${tried}\n` +
        "If it is in another project or package, add the folder that contains it with `--search-dir DIR` (`roots` in code).",
    );
  const wanted = `'${entrypoint}'${entrypoint.endsWith(".py") ? ` (or '${twinsOf(entrypoint)[0]}')` : ""}`;
  const nearest = nearestEntry(entrypoint, existing);
  const hint = nearest === undefined ? "" : `\nDid you mean \`entrypoint: ${nearest}\`?`;
  return new ServerCodeError(
    `Server '${name}' needs its entrypoint ${wanted}, which was not found. Looked in:\n${tried}${hint}`,
  );
}

/** The file with the most similar name, else the default one if it exists. */
function nearestEntry(entrypoint: string, directories: readonly string[]): string | undefined {
  const files = directories
    .flatMap((directory) => readdirSync(directory))
    .filter((file) => ENTRY_FILE.test(file) && !/\.test\.\w+$/.test(file));
  const close = suggest(entrypoint, files);
  return close ?? files.find((file) => /^app\.\w+$/.test(file));
}

function entryIn(directory: string, entrypoint: string): string | undefined {
  for (const file of [entrypoint, ...twinsOf(entrypoint)]) {
    const path = resolve(directory, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  }
  return undefined;
}

/** `app.py` → `app.ts`, `app.js`, `app.mjs`. */
function twinsOf(entrypoint: string): string[] {
  if (!ENTRY_FILE.test(entrypoint)) return [];
  const stem = entrypoint.replace(ENTRY_FILE, "");
  return TWINS.map((extension) => stem + extension).filter((file) => file !== entrypoint);
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

/**
 * The compiled version of a built-in source file. In a checkout it must not be older than the source. In a package its
 * age does not matter, because nothing can be rebuilt.
 */
export function compiledTwin(entry: string, installRoot: string): string | undefined {
  if (!entry.endsWith(".ts")) return undefined;
  const path = relative(realpathSync(installRoot), realpathSync(entry));
  if (path.startsWith("..") || isAbsolute(path) || path.split(sep).includes("node_modules")) return undefined;
  const twin = join(installRoot, "dist", path.replace(/\.ts$/, ".js"));
  const compiled = statSync(twin, { throwIfNoEntry: false });
  if (compiled === undefined) return undefined;
  const isPackage = !existsSync(join(installRoot, "src/index.ts"));
  return isPackage || compiled.mtimeMs >= statSync(entry).mtimeMs ? twin : undefined;
}

/** A module of this package that runs in another process or thread, and the arguments with which Node runs it. */
export function entryPoint(
  name: string,
  from: string,
  installRoot: string,
): { file: string; execArgv: string[] } {
  const source = fileURLToPath(new URL(`./${name}${extname(from)}`, from));
  const file = compiledTwin(source, installRoot) ?? source;
  return { file, execArgv: file.endsWith(".ts") ? ["--import", "jiti/register"] : [] };
}
