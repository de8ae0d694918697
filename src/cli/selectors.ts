import { existsSync, readFileSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { aliasedPath, impliedConfig, impliedEntry } from "../config/light-door.ts";
import type { CommandContext, SelectorKind } from "./command.ts";
import { UsageError } from "./errors.ts";
import { hint } from "./hint.ts";
import { subfolders, yamlFiles, yamlFilesBelow } from "./workloads/catalog/folders.ts";

/** The folder of each kind under a search root, and its word after `gym list`. */
const COMPONENTS = {
  benchmark: { directory: "benchmarks", listed: "benchmarks" },
  environment: { directory: "environments", listed: "environments" },
  "resources-server": { directory: "resources_servers", listed: "resources-servers" },
  "agent-type": { directory: "responses_api_agents", listed: "agents" },
  "model-type": { directory: "responses_api_models", listed: "models" },
} as const satisfies Record<SelectorKind, object>;

const MANIFEST = "manifest.yaml";

/** The folder of the components of a kind, relative to each search root. */
export function componentDirectory(kind: SelectorKind): string {
  return COMPONENTS[kind].directory;
}

interface SelectorPlaces {
  /** Search roots; the first match counts. */
  readonly roots: readonly string[];
  warn(line: string): void;
}

/** The config file (absolute, links resolved) of a component selector such as `--benchmark gpqa`. */
export async function selectConfig(
  kind: SelectorKind,
  flag: string,
  given: string,
  { roots, warn }: SelectorPlaces,
): Promise<string> {
  const implied = impliedPaths(kind, given);
  const renamed = implied.map(aliasedPath).filter((relative) => relative !== undefined);
  for (const relative of [...implied, ...renamed]) {
    const [first, ...others] = await existingFiles(relative, roots);
    if (first === undefined) continue;
    if (others.length > 0) {
      warn(
        `Warning: \`--${flag} ${given}\` exists more than once; using ${first}. ` +
          `Also found: ${others.join(", ")}. Use \`--config\` to choose one of those.`,
      );
    }
    return first;
  }
  throw new UsageError(notFoundMessage(kind, flag, given, roots));
}

/** Relative paths in search order; the error names the last one. */
function impliedPaths(kind: SelectorKind, value: string): string[] {
  const directory = componentDirectory(kind);
  if (kind === "environment") return [...listedPaths(value), ...nestedPaths(directory, value)];
  if (kind === "benchmark") return nestedPaths(directory, value);
  return configPaths(directory, value);
}

/** `gym list environments` also lists benchmarks and resources servers, these with their folder if the name has another meaning. */
function listedPaths(value: string): string[] {
  const [folder = "", rest] = value.split(/\/(.*)/s);
  if (folder === "resources_servers" && rest) return configPaths(folder, rest);
  return [
    ...nestedPaths("environments", value),
    ...nestedPaths("benchmarks", value),
    ...configPaths("resources_servers", value),
  ];
}

function nestedPaths(directory: string, value: string): string[] {
  const nested = `${directory}/${value}/config.yaml`;
  return value.includes("/") ? [nested, `${directory}/${value}.yaml`] : [nested];
}

function configPaths(directory: string, value: string): string[] {
  const [name = "", flavor = name] = value.split(/\/(.*)/s);
  return [`${directory}/${name}/configs/${flavor}.yaml`];
}

async function existingFiles(relative: string, roots: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const root of roots) {
    const file = path.join(root, relative);
    const status = await stat(file).catch(() => undefined);
    if (status?.isFile()) found.add(await realpath(file));
    else if (impliedConfig(file) !== undefined) found.add(file);
  }
  return [...found];
}

function notFoundMessage(kind: SelectorKind, flag: string, given: string, roots: readonly string[]): string {
  const implied = impliedPaths(kind, given).at(-1);
  const { suggestion, place } = nearest(kind, given, roots);
  return (
    `\`--${flag} ${given}\` was specified which implies config \`${implied}\`, which does not exist.${suggestion} ` +
    `See available ${flag} configs in ${place}. Add the folder of another project or package with \`--search-dir DIR\`.`
  );
}

/** A suggestion, and where to look: the configs of a component that exists, else all components. */
function nearest(kind: SelectorKind, given: string, roots: readonly string[]) {
  const directory = componentDirectory(kind);
  const [name = given] = given.split("/", 1);
  const flavors = kind === "benchmark" ? [] : flavorsOf(kind, name, roots);
  if (flavors.length > 0) {
    const configs = kind === "environment" ? `${directory}/${name}` : `${directory}/${name}/configs`;
    return {
      suggestion: hint(given, flavors) || ` Did you mean \`${flavors[0]}\`?`,
      place: `\`${configs}\`: ${flavors.join(", ")}`,
    };
  }
  const names = componentNames(kind, roots);
  const inside = kind === "benchmark" ? names.filter((known) => known.startsWith(`${given}/`)) : [];
  const [shortest] = inside.sort((a, b) => a.length - b.length);
  return {
    suggestion: shortest === undefined ? hint(given, names) : ` Did you mean \`${shortest}\`?`,
    place: `\`${directory}\`, or with \`gym list ${COMPONENTS[kind].listed}\``,
  };
}

/** `NAME` and `NAME/FLAVOR` for every config of one component. */
function flavorsOf(kind: SelectorKind, name: string, roots: readonly string[]): string[] {
  const inside = kind === "environment" ? name : `${name}/configs`;
  const plain = kind === "environment" ? "config.yaml" : `${name}.yaml`;
  const files = roots.flatMap((root) => yamlFiles(path.join(root, componentDirectory(kind), inside)));
  const flavors = files
    .filter((file) => file !== MANIFEST)
    .map((file) => (file === plain ? name : `${name}/${file.replace(/\.yaml$/, "")}`));
  return [...new Set(flavors)].sort();
}

const KINDS = ["resources-server", "environment", "benchmark"] as const satisfies readonly SelectorKind[];

/** The config file for NAME: a file, or that of a resources server, environment or benchmark. */
export async function namedConfig({ io, roots, err }: CommandContext, name: string): Promise<string> {
  if (name.endsWith(".yaml")) {
    const configFile = path.resolve(io.cwd, name);
    if (!existsSync(configFile)) throw new UsageError(`argument NAME: ${name} does not exist`);
    return configFile;
  }
  const places = { roots, warn: err };
  for (const kind of KINDS) {
    try {
      return await selectConfig(kind, kind, name, places);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }
  const names = KINDS.flatMap((kind) => componentNames(kind, roots));
  throw new UsageError(
    `argument NAME: there is no resources server, environment or benchmark '${name}'.${hint(name, names)} ` +
      "See `gym list resources-servers` and `gym list environments`.",
  );
}

/** The valid names of a selector, from all roots, sorted. */
function componentNames(kind: SelectorKind, roots: readonly string[]): string[] {
  const names = roots.flatMap((root) => {
    const folder = path.join(root, componentDirectory(kind));
    return kind === "benchmark"
      ? benchmarkNames(folder)
      : subfolders(folder).filter((name) => isComponent(kind, path.join(folder, name)));
  });
  return [...new Set(names)].sort();
}

function benchmarkNames(folder: string): string[] {
  return yamlFilesBelow(folder)
    .filter((file) => path.basename(file) !== MANIFEST && isBenchmark(path.join(folder, file)))
    .map((file) => file.replace(/(\/config)?\.yaml$/, ""));
}

/** A benchmark is a YAML file that mentions a dataset of type benchmark. */
function isBenchmark(file: string): boolean {
  try {
    return /\btype["']?:\s*["']?benchmark\b/.test(readFileSync(file, "utf8"));
  } catch {
    // A file that cannot be read is not suggested.
    return false;
  }
}

function isComponent(kind: SelectorKind, folder: string): boolean {
  if (kind === "environment") return existsSync(path.join(folder, "config.yaml"));
  return (
    existsSync(path.join(folder, "configs")) ||
    (kind === "resources-server" && impliedEntry(folder) !== undefined)
  );
}
