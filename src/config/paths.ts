import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { suggest } from "../base/suggest.ts";
import { impliedConfig } from "./implied-config.ts";
import { aliasedPath } from "./servers/aliases.ts";

/** The variable with further search roots. They come before the working directory and the install root. */
export const EXTRA_ROOTS_VARIABLE = "NEMO_GYM_EXTRA_ROOTS";

/** A directory with one of these files is a server. */
const SERVER_MARKERS = [
  "app.ts",
  "app.js",
  "app.mjs",
  "app.py",
  "package.json",
  "requirements.txt",
  "pyproject.toml",
];

export interface RootOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  installRoot?: string;
}

let knownInstallRoot: string | undefined;

/** The directory of our package.json, which has the built-in `benchmarks/`, `environments/`, `resources_servers/`…. */
export function installRoot(): string {
  if (knownInstallRoot === undefined) {
    let directory = path.dirname(fileURLToPath(import.meta.url));
    while (!existsSync(path.join(directory, "package.json")) && path.dirname(directory) !== directory)
      directory = path.dirname(directory);
    knownInstallRoot = directory;
  }
  return knownInstallRoot;
}

/** The directories in which relative paths are searched, in this order. */
export function searchRoots(options: RootOptions = {}): string[] {
  const { env = process.env, cwd = process.cwd(), installRoot: install = installRoot() } = options;
  const extra = (env[EXTRA_ROOTS_VARIABLE] ?? "").split(path.delimiter).filter((entry) => entry !== "");
  const roots = new Map<string, string>();
  const own = [...extra.map((entry) => path.resolve(cwd, entry)), path.resolve(cwd)];
  for (const root of [...own, ...packageRoots(cwd), install]) {
    const real = realPath(root);
    if (!roots.has(real)) roots.set(real, root);
  }
  return [...roots.values()];
}

/** The parts of a package.json that say which installed packages have environments. */
interface PackageJson {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  "nemo-gym"?: { roots?: string[] };
}

/** The roots of the project's dependencies whose package.json has `"nemo-gym": {"roots": ["."]}`. */
function packageRoots(cwd: string): string[] {
  const { dependencies, devDependencies } = packageJson(cwd);
  return Object.keys({ ...dependencies, ...devDependencies }).flatMap((name) => {
    const directory = path.join(cwd, "node_modules", name);
    return (packageJson(directory)["nemo-gym"]?.roots ?? []).map((root) => path.join(directory, root));
  });
}

function packageJson(directory: string): PackageJson {
  try {
    return JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as PackageJson;
  } catch {
    // npm and Node report a broken file themselves, and a missing one is usual.
    return {};
  }
}

/** The candidates for a path. An absolute path is its only candidate. */
export function candidatePaths(relative: string, roots: readonly string[]): string[] {
  return path.isAbsolute(relative) ? [relative] : roots.map((root) => path.join(root, relative));
}

/**
 * The first existing file or directory with this relative path or its newer name. If there is none, the path in the
 * first root, so that the error names the user's directory.
 */
export function findPath(relative: string, roots: readonly string[]): string {
  return findExistingPath(relative, roots) ?? candidatePaths(relative, roots)[0] ?? path.resolve(relative);
}

/**
 * The absolute path of an output file. A path in the folder of a renamed component moves to its current folder, unless the
 * old folder exists.
 */
export function outputPath(given: string, cwd: string): string {
  const renamed = path.isAbsolute(given) ? undefined : aliasedPath(given);
  const component = (file: string) => path.join(cwd, ...path.normalize(file).split(path.sep).slice(0, 2));
  const isMoved = renamed !== undefined && !existsSync(component(given)) && existsSync(component(renamed));
  return path.resolve(cwd, isMoved ? renamed : given);
}

/** Like findPath, but undefined if nothing exists. */
export function findExistingPath(relative: string, roots: readonly string[]): string | undefined {
  const found = candidatePaths(relative, roots).find(
    (candidate) => existsSync(candidate) || impliedConfig(candidate) !== undefined,
  );
  if (found !== undefined) return found;
  const renamed = aliasedPath(relative);
  return renamed === undefined
    ? undefined
    : candidatePaths(renamed, roots).find((candidate) => existsSync(candidate));
}

/** The directory of an implementation, such as `resources_servers/mcqa`; undefined if no root has a server there. */
export function findServerDirectory(
  type: string,
  implementation: string,
  roots: readonly string[],
): string | undefined {
  // The name comes from a config file and must not leave the directory of the type.
  if (implementation.split(/[\\/]/).some((part) => part === "" || part === "..")) return undefined;
  const relative = `${type}/${implementation}`;
  return [relative, aliasedPath(relative) ?? relative]
    .flatMap((candidate) => candidatePaths(candidate, roots))
    .find((directory) => SERVER_MARKERS.some((marker) => existsSync(path.join(directory, marker))));
}

/** The directory of `results/` and `cache/`: the checkout in a source install, the working directory in a package install. */
export function workingRoot(cwd: string, install: string): string {
  return install.split(path.sep).includes("node_modules") ? cwd : install;
}

function realPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** The existing path that is most similar to `relative`, for a hint; undefined if none is similar. */
export function closestPath(relative: string, roots: readonly string[]): string | undefined {
  if (path.isAbsolute(relative)) return undefined;
  const wanted = relative.split("/");
  for (const root of roots) {
    const found = correctedPath(root, wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

function correctedPath(root: string, wanted: readonly string[]): string | undefined {
  let corrected = "";
  for (const [index, name] of wanted.entries()) {
    const names = namesIn(path.join(root, corrected));
    const isLast = index === wanted.length - 1;
    const renamedAbove = corrected !== wanted.slice(0, index).join("/");
    const next = names.includes(name) ? name : closestName(name, names, isLast && renamedAbove);
    if (next === undefined) return undefined;
    corrected = corrected === "" ? next : `${corrected}/${next}`;
  }
  return corrected;
}

/** With `anyOfKind`, falls back to the first file: in a corrected directory, the file is often named after the directory. */
function closestName(name: string, names: readonly string[], anyOfKind: boolean): string | undefined {
  const extension = path.extname(name);
  const stems = names
    .filter((candidate) => path.extname(candidate) === extension)
    .map((candidate) => path.basename(candidate, extension));
  const close = suggest(path.basename(name, extension), stems) ?? (anyOfKind ? stems[0] : undefined);
  return close === undefined ? undefined : close + extension;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // A directory that cannot be listed has no suggestions.
    return [];
  }
}
