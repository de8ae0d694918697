import { composeConfig } from "./compose.ts";
import { ConfigError } from "./errors.ts";
import type { DictNode } from "./node.ts";
import type { RootOptions } from "./paths.ts";
import { readConfigFile } from "./read-config-file.ts";
import { FinishedConfig, type ResolvedConfig } from "./resolved-config.ts";
import { classifyServers } from "./server-schema.ts";
import type { ServerType } from "./server-types.ts";

/** What listings show about a config file. */
export interface ConfigMetadata {
  domain?: string;
  description?: string;
  /** What the environment is good for; only resources servers declare it. */
  value?: string;
}

/** What stands in a leniently read config where a value is missing. */
export const STAND_IN = "(not set)";

const TYPE_ORDER: readonly ServerType[] = [
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
];

/**
 * Domain, description and value of a config file: as written in the file, and what is missing there from everything it
 * includes. Never fails on a bad file, since one must not spoil a listing.
 */
export function readConfigMetadata(file: string, options: RootOptions = {}): ConfigMetadata {
  let metadata: ConfigMetadata = {};
  try {
    metadata = metadataOf(readConfigFile(file));
    if (metadata.domain !== undefined && metadata.description !== undefined) return metadata;
    const included = metadataOf(composeLeniently(file, options));
    metadata.domain ??= included.domain;
    metadata.description ??= included.description;
    return metadata;
  } catch (error) {
    if (error instanceof ConfigError) return metadata;
    throw error;
  }
}

/**
 * A config file on its own, without command line and `env.yaml`; what nobody supplied is replaced by a stand-in. Ports
 * and hosts are not given.
 */
export function resolveLeniently(file: string, options: RootOptions = {}): ResolvedConfig {
  const root = composeLeniently(file, options);
  const { servers } = classifyServers(root);
  const { env = process.env, cwd = process.cwd() } = options;
  return new FinishedConfig(root, servers, env, { layers: [root], derivations: [], cwd }, false);
}

function composeLeniently(file: string, options: RootOptions): DictNode {
  const noModel = !readConfigFile(file).entries.has("policy_model");
  const initial = { config_paths: [file] };
  return composeConfig({ ...options, initial, noModel, skipCli: true, skipEnvYaml: true, standIn: STAND_IN })
    .root;
}

/** The first non-empty value of each field over all instances as they are written, resources servers first. */
export function metadataOf(root: DictNode): ConfigMetadata {
  const metadata: ConfigMetadata = {};
  for (const { type, block } of serverBlocks(root)) {
    metadata.domain ??= textField(block, "domain");
    metadata.description ??= textField(block, "description");
    if (type === "resources_servers") metadata.value ??= textField(block, "value");
  }
  return metadata;
}

/** A block that stands where a server's does, valid or not. */
export interface ServerBlockEntry {
  name: string;
  type: ServerType;
  implementation: string;
  block: DictNode;
}

/** The server blocks of a config as it is written, instance by instance. */
export function* serverBlocks(root: DictNode): Generator<ServerBlockEntry> {
  for (const [name, instance] of root.entries) {
    if (instance.kind !== "dict") continue;
    for (const type of TYPE_ORDER) {
      const implementations = instance.entries.get(type);
      if (implementations?.kind !== "dict") continue;
      for (const [implementation, block] of implementations.entries)
        if (block.kind === "dict")
          yield { name: String(name), type, implementation: String(implementation), block };
    }
  }
}

function textField(block: DictNode, field: string): string | undefined {
  const node = block.entries.get(field);
  const value = node?.kind === "scalar" ? node.value : undefined;
  return typeof value === "string" && value !== "" && value !== STAND_IN ? value : undefined;
}
