import { pyRepr } from "../base/python/door.ts";
import { ConfigPathNotFoundError, formatPosition, MalformedConfigPathsError, place } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { type ConfigNode, type DictNode, isTruthyNode, positionOf, textOfNode } from "./node.ts";
import { candidatePaths, closestPath, EXTRA_ROOTS_VARIABLE, findExistingPath } from "./paths.ts";
import { plainFromNode } from "./plain-data.ts";
import { readConfigFile } from "./read-config-file.ts";

/** Maximum number of files. It stops includes that lead to ever new names. */
const MAX_FILES = 10_000;

interface LoadedFiles {
  /** All entries: the given ones, then includes in the order they were found. */
  paths: string[];
  /** The files in merge order: a file comes after everything it includes. */
  files: DictNode[];
  /** Entries that occurred again after they were loaded. */
  duplicates: string[];
}

/** An entry of `config_paths`. */
interface ConfigPath {
  text: string;
  /** The node of the entry, for messages. */
  node: ConfigNode;
}

interface LoadedEntry {
  root: DictNode;
  /** Indexes of the entries that it includes and that no earlier entry includes. */
  children: number[];
}

/** The `config_paths` of a source; empty when absent, null, empty or `???`. */
export function readConfigPaths(root: DictNode, env: NodeJS.ProcessEnv): ConfigPath[] {
  const node = root.entries.get("config_paths");
  if (node === undefined) return [];
  const interpolator = new Interpolator(root, env);
  const { node: value, path } = interpolator.resolve(node, ["config_paths"]);
  if (!isTruthyNode(value)) return [];
  if (value.kind !== "list") throw malformed(interpolator.resolveDeep(node, ["config_paths"]), node);
  return value.items.map((item, index) => {
    const text = textOfNode(interpolator.resolve(item, [...path, index]).node);
    if (text === undefined) throw malformed(interpolator.resolveDeep(node, ["config_paths"]), item);
    return { text, node: item };
  });
}

/**
 * Loads the given files and everything they include. Discovery is breadth first, so a shared include belongs to the first
 * file that includes it. Merging is post-order, so a file takes precedence over its includes.
 */
export function loadFiles(
  given: readonly ConfigPath[],
  roots: readonly string[],
  env: NodeJS.ProcessEnv,
  read: (file: string) => DictNode = readConfigFile,
): LoadedFiles {
  const entries = [...given];
  const known = new Set(entries.map(({ text }) => text));
  const loaded: LoadedEntry[] = [];
  const duplicates: string[] = [];
  for (const entry of entries) {
    const file = findExistingPath(entry.text, roots);
    if (file === undefined) throw notFound(entry, roots);
    const root = read(file);
    const children: number[] = [];
    loaded.push({ root, children });
    for (const include of readConfigPaths(root, env)) {
      if (known.has(include.text)) duplicates.push(include.text);
      else {
        known.add(include.text);
        children.push(entries.length);
        entries.push(include);
      }
    }
    if (entries.length > MAX_FILES)
      throw new MalformedConfigPathsError(`More than ${MAX_FILES} config files include each other.`);
  }
  return { paths: entries.map(({ text }) => text), files: inMergeOrder(loaded, given.length), duplicates };
}

/** Files after their includes. Does not recurse, because chains of includes may be long. */
function inMergeOrder(loaded: readonly LoadedEntry[], given: number): DictNode[] {
  const reversed: DictNode[] = [];
  const stack = loaded.slice(0, given);
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    reversed.push(entry.root);
    for (const child of entry.children) stack.push(loaded[child] as LoadedEntry);
  }
  return reversed.reverse();
}

function notFound({ text, node }: ConfigPath, roots: readonly string[]): ConfigPathNotFoundError {
  const position = positionOf(node);
  const fromFile = position !== undefined && node.origin.source.kind !== "command line";
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
