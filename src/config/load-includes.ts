import { pyRepr } from "../python/repr.ts";
import { ConfigPathNotFoundError, formatPosition, MalformedConfigPathsError, place } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { type ConfigNode, type DictNode, isTruthy, positionOf } from "./node.ts";
import { candidatePaths, closestPath, EXTRA_ROOTS_VARIABLE, findExistingPath } from "./paths.ts";
import { plainFromNode } from "./plain-data.ts";
import { readConfigFile } from "./read-config-file.ts";

/** More files than any real config has; a generator that includes itself under ever new names ends here. */
const MAX_FILES = 10_000;

export interface LoadedFile {
  /** The entry as written. */
  entry: string;
  root: DictNode;
}

export interface LoadedFiles {
  /** All entries: the given ones, then includes in the order they were found. */
  paths: string[];
  /** The files in merge order: a file comes after everything it includes. */
  files: LoadedFile[];
  /** Entries that were met again after they had been loaded. */
  duplicates: string[];
}

interface Entry {
  text: string;
  /** Where it is written, for messages. */
  writtenBy: ConfigNode | undefined;
  children: number[];
}

/** The `config_paths` of a source, as a list of texts; empty when absent, null, empty or `???`. */
export function readConfigPaths(
  root: DictNode,
  env: NodeJS.ProcessEnv,
): { text: string; node: ConfigNode }[] {
  const node = root.entries.get("config_paths");
  if (node === undefined) return [];
  const interpolator = new Interpolator(root, env);
  const { node: value, path } = interpolator.resolve(node, ["config_paths"]);
  if (!isTruthy(value)) return [];
  if (value.kind !== "list") throw malformed(interpolator.resolveDeep(node, ["config_paths"]), node);
  return value.items.map((item, index) => {
    const resolved = interpolator.resolve(item, [...path, index]).node;
    if (resolved.kind !== "scalar" || typeof resolved.value !== "string")
      throw malformed(interpolator.resolveDeep(node, ["config_paths"]), item);
    return { text: resolved.value, node: item };
  });
}

/**
 * Loads the given files and everything they include. Discovery is breadth first over the text of the entries, so a
 * shared include belongs to the includer found first; merging is post-order, so a file beats what it includes.
 */
export function loadFiles(
  given: readonly { text: string; node: ConfigNode }[],
  roots: readonly string[],
  env: NodeJS.ProcessEnv,
  read: (file: string) => DictNode = readConfigFile,
): LoadedFiles {
  const entries: Entry[] = given.map(({ text, node }) => ({ text, writtenBy: node, children: [] }));
  const known = new Set(entries.map(({ text }) => text));
  const loaded: DictNode[] = [];
  const duplicates: string[] = [];
  for (const entry of entries) {
    const root = loadEntry(entry, roots, read);
    loaded.push(root);
    for (const { text, node } of readConfigPaths(root, env)) {
      if (known.has(text)) duplicates.push(text);
      else {
        known.add(text);
        entry.children.push(entries.length);
        entries.push({ text, writtenBy: node, children: [] });
      }
    }
    if (entries.length > MAX_FILES)
      throw new MalformedConfigPathsError(`More than ${MAX_FILES} config files include each other.`);
  }
  const order = mergeOrder(entries, given.length);
  return {
    paths: entries.map(({ text }) => text),
    files: order.flatMap((index) => {
      const [entry, root] = [entries[index], loaded[index]];
      return entry === undefined || root === undefined ? [] : [{ entry: entry.text, root }];
    }),
    duplicates,
  };
}

/** Children before their parent; a chain of includes may be long, so no recursion. */
function mergeOrder(entries: readonly Entry[], given: number): number[] {
  const reversed: number[] = [];
  const stack = Array.from({ length: given }, (_, index) => index);
  for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
    reversed.push(index);
    stack.push(...(entries[index]?.children ?? []));
  }
  return reversed.reverse();
}

function loadEntry(
  { text, writtenBy }: Entry,
  roots: readonly string[],
  read: (file: string) => DictNode,
): DictNode {
  const file = findExistingPath(text, roots);
  if (file === undefined) throw notFound(text, writtenBy, roots);
  return read(file);
}

function notFound(text: string, writtenBy: ConfigNode | undefined, roots: readonly string[]) {
  const position = positionOf(writtenBy);
  const fromFile = position !== undefined && writtenBy?.origin.source.kind !== "command line";
  const where = fromFile ? ` (written in ${formatPosition(position)})` : "";
  const close = closestPath(text, roots);
  const hint = close === undefined ? "" : `Did you mean '${close}'?\n`;
  const tried = candidatePaths(text, roots).map((candidate) => `  - ${candidate}`);
  return new ConfigPathNotFoundError(
    `config_paths entry '${text}' was not found${where}. Looked in:\n${tried.join("\n")}\n${hint}` +
      `Relative entries are looked up under ${EXTRA_ROOTS_VARIABLE} (--search-dir), the working directory and the ` +
      `install root, never relative to the including file.`,
    { position },
  );
}

function malformed(value: ConfigNode, node: ConfigNode): MalformedConfigPathsError {
  const position = positionOf(node);
  return new MalformedConfigPathsError(
    `'config_paths' must be a list of paths, but it is ${pyRepr(plainFromNode(value))}${place(position)}. ` +
      `Pass each file with --config PATH, or write +config_paths=[a.yaml,b.yaml].`,
    { position },
  );
}
