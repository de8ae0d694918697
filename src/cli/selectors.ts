import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { impliedConfig } from "../config/implied-config.ts";
import { aliasedPath } from "../config/servers/aliases.ts";
import type { SelectorKind } from "./command.ts";
import { componentDirectory, componentNames } from "./component-names.ts";
import { hint } from "./hint.ts";
import { UsageError } from "./usage-error.ts";

/** The words after `gym list` for each kind. */
const LISTED_AS = {
  benchmark: "benchmarks",
  environment: "environments",
  "resources-server": "resources-servers",
  "agent-type": "agents",
  "model-type": "models",
} as const satisfies Record<SelectorKind, string>;

export interface SelectorPlaces {
  /** Search roots, the first one wins. */
  readonly roots: readonly string[];
  warn(line: string): void;
}

/** The config file (absolute, links resolved) a component selector such as `--benchmark gpqa` stands for. */
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
  throw new UsageError(await notFoundMessage(kind, flag, given, roots));
}

/** Relative paths in the order they are tried; the last one is named when none exists. */
function impliedPaths(kind: SelectorKind, value: string): string[] {
  const directory = componentDirectory(kind);
  if (kind === "environment") return [...listedPaths(value), ...nestedPaths(directory, value)];
  if (kind === "benchmark") return nestedPaths(directory, value);
  return configPaths(directory, value);
}

/** `gym list environments` also lists benchmarks and, with their folder, resources servers. */
function listedPaths(value: string): string[] {
  const [folder = "", rest] = value.split(/\/(.*)/s);
  if (folder === "resources_servers" && rest) return configPaths(folder, rest);
  return nestedPaths("environments", value).concat(nestedPaths("benchmarks", value));
}

function nestedPaths(directory: string, value: string): string[] {
  const nested = `${directory}/${value}/config.yaml`;
  return value.includes("/") ? [nested, `${directory}/${value}.yaml`] : [nested];
}

function configPaths(directory: string, value: string): string[] {
  const slash = value.indexOf("/");
  const name = slash < 0 ? value : value.slice(0, slash);
  const flavor = slash < 0 ? value : value.slice(slash + 1);
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

async function notFoundMessage(kind: SelectorKind, flag: string, given: string, roots: readonly string[]) {
  const implied = impliedPaths(kind, given).at(-1);
  const { text, directory, listing } = await nearest(kind, given, roots);
  return (
    `\`--${flag} ${given}\` was specified which implies config \`${implied}\`, which does not exist.${text} ` +
    `See available ${flag} configs in \`${directory}\`${listing}.`
  );
}

async function nearest(kind: SelectorKind, given: string, roots: readonly string[]) {
  const directory = componentDirectory(kind);
  const names = await componentNames(kind, roots);
  const listing = `, or with \`gym list ${LISTED_AS[kind]}\``;
  if (kind === "benchmark") {
    const inside = names.filter((name) => name.startsWith(`${given}/`));
    const shortest = inside.sort((a, b) => a.length - b.length)[0];
    return {
      text: shortest === undefined ? hint(given, names) : ` Did you mean \`${shortest}\`?`,
      directory,
      listing,
    };
  }
  const [name = given] = given.split("/", 1);
  const flavors = await flavorsOf(kind, name, roots);
  if (flavors.length === 0) return { text: hint(given, names), directory, listing };
  const configs = kind === "environment" ? `${directory}/${name}` : `${directory}/${name}/configs`;
  return {
    text: hint(given, flavors) || ` Did you mean \`${flavors[0]}\`?`,
    directory: configs,
    listing: `: ${flavors.join(", ")}`,
  };
}

/** `NAME` and `NAME/FLAVOR` for every config of one component. */
async function flavorsOf(kind: SelectorKind, name: string, roots: readonly string[]): Promise<string[]> {
  const inside = kind === "environment" ? name : `${name}/configs`;
  const plain = kind === "environment" ? "config" : name;
  const flavors = new Set<string>();
  for (const root of roots) {
    const folder = path.join(root, componentDirectory(kind), inside);
    for (const file of await readdir(folder).catch(() => [])) {
      if (!file.endsWith(".yaml") || file === "manifest.yaml") continue;
      const stem = file.slice(0, -".yaml".length);
      flavors.add(stem === plain ? name : `${name}/${stem}`);
    }
  }
  return [...flavors].sort();
}
