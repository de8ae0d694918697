import {
  type ConfigMetadata,
  loadFiles,
  metadataOf,
  readConfigFile,
  readConfigMetadata,
  readConfigPaths,
  serverBlocks,
} from "../../../config/door.ts";
import { ConfigError } from "../../../config/errors.ts";
import {
  type ConfigNode,
  type DictNode,
  isMissing,
  serverTypes,
  textOfNode,
} from "../../../config/light-door.ts";
import { type RootOptions, searchRoots } from "../../../config/paths.ts";

const FIELDS = ["domain", "description"] as const;
type Field = (typeof FIELDS)[number];

const DIRECTIVE_TEXT = /^\$\{(?:inherit_from|copy):/;

/** Reads the config files of a catalog, each file once. */
export class ConfigFiles {
  readonly roots: readonly string[];
  readonly #options: RootOptions;
  readonly #read = new Map<string, DictNode | ConfigError>();

  constructor(options: RootOptions = {}) {
    this.#options = options;
    this.roots = searchRoots(options);
  }

  /** The content of a file. Throws ConfigError if the file cannot be read. */
  read(file: string): DictNode {
    let root = this.#read.get(file);
    if (root === undefined) {
      root = readOrError(file);
      this.#read.set(file, root);
    }
    if (root instanceof ConfigError) throw root;
    return root;
  }

  /** Like `read`, but undefined if the file cannot be read. */
  tryRead(file: string): DictNode | undefined {
    try {
      return this.read(file);
    } catch (error) {
      if (error instanceof ConfigError) return undefined;
      throw error;
    }
  }

  /** A file and everything it includes, in merge order. Throws ConfigError if a file is missing or invalid. */
  layers(file: string): DictNode[] {
    const own = this.read(file);
    if (!own.entries.has("config_paths")) return [own];
    const env = this.#options.env ?? process.env;
    const { files } = loadFiles(readConfigPaths(own, env), this.roots, env, (entry) => this.read(entry));
    return [...files, own];
  }

  /** Domain, description and value of a config. Included files are read only for fields that the file does not have. */
  metadata(file: string): ConfigMetadata {
    const root = this.tryRead(file);
    if (root === undefined) return {};
    const metadata = metadataOf(root);
    const missing = FIELDS.filter((field) => metadata[field] === undefined);
    if (missing.length === 0) return metadata;
    const included = this.#included(file, missing);
    for (const field of missing) metadata[field] = included[field];
    return metadata;
  }

  /** Composing a config is slow, so it is done only if the layers do not agree on the values. */
  #included(file: string, fields: readonly Field[]): ConfigMetadata {
    try {
      const layers = this.layers(file);
      const agreed = agreedTexts(layers, fields);
      if (agreed !== undefined && !layers.some((layer) => needsResolving(layer, layers))) return agreed;
    } catch (error) {
      if (error instanceof ConfigError) return {};
      throw error;
    }
    return readConfigMetadata(file, this.#options);
  }
}

function readOrError(file: string): DictNode | ConfigError {
  try {
    return readConfigFile(file);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** The text of each field if all server blocks agree. Undefined if they differ or a value must be resolved first. */
function agreedTexts(layers: readonly DictNode[], fields: readonly Field[]): ConfigMetadata | undefined {
  const agreed: ConfigMetadata = {};
  for (const layer of layers) {
    for (const { block } of serverBlocks(layer)) {
      for (const field of fields) {
        const node = block.entries.get(field);
        if (node === undefined) continue;
        const value = textOfNode(node);
        if (value === undefined || value === "" || value.includes("${") || isMissing(node)) return undefined;
        agreed[field] ??= value;
        if (agreed[field] !== value) return undefined;
      }
    }
  }
  return agreed;
}

/** Whether a directive could add or remove values that are not visible in a server block. */
function needsResolving(layer: DictNode, layers: readonly DictNode[]): boolean {
  const { hidden, sources } = directivesOf(layer);
  return hidden || sources.some((name) => !namesServer(name, layers));
}

interface Directives {
  /** A key is deleted, or a text directive inherits a value. */
  hidden: boolean;
  /** The sources that blocks inherit from or copy. */
  readonly sources: (string | undefined)[];
}

function directivesOf(node: ConfigNode, found: Directives = { hidden: false, sources: [] }): Directives {
  if (node.kind === "scalar") found.hidden ||= DIRECTIVE_TEXT.test(textOfNode(node) ?? "");
  else if (node.kind === "list") for (const item of node.items) directivesOf(item, found);
  else {
    for (const [key, member] of node.entries) {
      if (key === "_delete_key") found.hidden = true;
      else if (key === "_inherit_from" || key === "_copy") found.sources.push(textOfNode(member));
      directivesOf(member, found);
    }
  }
  return found;
}

function namesServer(name: string | undefined, layers: readonly DictNode[]): boolean {
  const instances = layers.map((layer) => (name === undefined ? undefined : layer.entries.get(name)));
  return instances.some(
    (instance) => instance?.kind === "dict" && serverTypes.some((type) => instance.entries.has(type)),
  );
}

/** The entries of `datasets` in a server block. */
export function datasetsOf(block: DictNode): DictNode[] {
  const list = block.entries.get("datasets");
  return list?.kind === "list" ? list.items.filter((item) => item.kind === "dict") : [];
}

/** Whether a mapping in the tree has this value at this key. */
export function mentions(node: ConfigNode, key: string, value: string): boolean {
  if (node.kind === "scalar") return false;
  if (node.kind === "list") return node.items.some((item) => mentions(item, key, value));
  if (textOfNode(node.entries.get(key)) === value) return true;
  for (const member of node.entries.values()) if (mentions(member, key, value)) return true;
  return false;
}
