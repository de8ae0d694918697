import { readFileSync, statSync } from "node:fs";
import {
  type ConfigMetadata,
  metadataOf,
  readConfigMetadata,
  serverBlocks,
} from "../config/config-metadata.ts";
import { ConfigError } from "../config/errors.ts";
import { loadFiles, readConfigPaths } from "../config/load-includes.ts";
import { type ConfigNode, type DictNode, isMissing, textOf } from "../config/node.ts";
import { type RootOptions, searchRoots } from "../config/paths.ts";
import { readConfigFile } from "../config/read-config-file.ts";
import { serverTypes } from "../config/server-types.ts";
import { readPlainYaml } from "./plain-yaml.ts";

/** Files beyond this size are left to the full reader, which refuses those that are no configs. */
const MAX_PLAIN_BYTES = 256 * 1024;

const DIRECTIVE_TEXT = /^\$\{(?:inherit_from|copy):/;

/** Reads the config files of a catalog, each once, and answers what listings want to know about them. */
export class ConfigFiles {
  readonly roots: readonly string[];
  readonly #options: RootOptions;
  readonly #read = new Map<string, DictNode | ConfigError>();

  constructor(options: RootOptions = {}) {
    this.#options = options;
    this.roots = searchRoots(options);
  }

  /** The file as it is written; throws ConfigError when it cannot be read. */
  read(file: string): DictNode {
    let root = this.#read.get(file);
    if (root === undefined) {
      root = readOrError(file);
      this.#read.set(file, root);
    }
    if (root instanceof ConfigError) throw root;
    return root;
  }

  /** Like read, but undefined when the file cannot be read. */
  tryRead(file: string): DictNode | undefined {
    try {
      return this.read(file);
    } catch (error) {
      if (error instanceof ConfigError) return undefined;
      throw error;
    }
  }

  /** The file and everything it includes, in merge order; throws ConfigError when something is missing or broken. */
  layers(file: string): DictNode[] {
    const own = this.read(file);
    const included = readConfigPaths(own, this.#options.env ?? process.env);
    if (included.length === 0) return [own];
    const { files } = loadFiles(included, this.roots, this.#options.env ?? process.env, (entry) =>
      this.read(entry),
    );
    return [...files.map(({ root }) => root), own];
  }

  /** Domain, description and value: those in the file itself, then what its includes and their resolution give. */
  metadata(file: string): ConfigMetadata {
    const root = this.tryRead(file);
    const metadata = root === undefined ? {} : metadataOf(root);
    if (root === undefined || (metadata.domain !== undefined && metadata.description !== undefined))
      return metadata;
    const included = this.#included(file);
    metadata.domain ??= included.domain;
    metadata.description ??= included.description;
    return metadata;
  }

  /** Where all layers agree on a value there is nothing to resolve; only where they do not, the config is composed. */
  #included(file: string): ConfigMetadata {
    try {
      const layers = this.layers(file);
      if (!layers.some((layer) => needsResolving(layer, layers))) {
        const domain = agreedText(layers, "domain");
        const description = agreedText(layers, "description");
        if (domain !== "unclear" && description !== "unclear") return { ...domain, ...description };
      }
    } catch (error) {
      if (error instanceof ConfigError) return {};
      throw error;
    }
    return readConfigMetadata(file, this.#options);
  }
}

/** The one text all server blocks give for a field, if they agree. */
function agreedText(
  layers: readonly DictNode[],
  field: "domain" | "description",
): ConfigMetadata | "unclear" {
  let text: string | undefined;
  for (const layer of layers) {
    for (const { block } of serverBlocks(layer)) {
      const node = block.entries.get(field);
      if (node === undefined) continue;
      const value = textOf(node);
      if (value === undefined || value === "" || value.includes("${") || isMissing(node)) return "unclear";
      if (text !== undefined && text !== value) return "unclear";
      text = value;
    }
  }
  return { [field]: text };
}

/** Whether a directive could bring in, or take away, values that no server block shows. */
function needsResolving(node: ConfigNode, layers: readonly DictNode[]): boolean {
  if (node.kind === "scalar") return DIRECTIVE_TEXT.test(textOf(node) ?? "");
  if (node.kind === "list") return node.items.some((item) => needsResolving(item, layers));
  for (const [key, member] of node.entries) {
    if (key === "_delete_key" || needsResolving(member, layers)) return true;
    if ((key === "_inherit_from" || key === "_copy") && !namesServer(textOf(member), layers)) return true;
  }
  return false;
}

function namesServer(name: string | undefined, layers: readonly DictNode[]): boolean {
  const instances = layers.map((layer) => (name === undefined ? undefined : layer.entries.get(name)));
  return instances.some(
    (instance) => instance?.kind === "dict" && serverTypes.some((type) => instance.entries.has(type)),
  );
}

function readOrError(file: string): DictNode | ConfigError {
  try {
    return readQuickly(file) ?? readConfigFile(file);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function readQuickly(file: string): DictNode | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_PLAIN_BYTES) return undefined;
  try {
    return readPlainYaml(readFileSync(file, "utf8"), { kind: "file", name: file });
  } catch {
    // Whatever keeps the file from being read, the full reader says it with its name.
    return undefined;
  }
}

/** Whether some mapping below has this value at this key. */
export function mentions(node: ConfigNode, key: string, value: string): boolean {
  if (node.kind === "scalar") return false;
  if (node.kind === "list") return node.items.some((item) => mentions(item, key, value));
  if (textOf(node.entries.get(key)) === value) return true;
  for (const member of node.entries.values()) if (mentions(member, key, value)) return true;
  return false;
}
