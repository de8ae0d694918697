import { composeConfig } from "./compose.ts";
import { ConfigError } from "./errors.ts";
import { type DictNode, textOfNode } from "./node.ts";
import type { RootOptions } from "./paths.ts";
import { readConfigFile } from "./read-config-file.ts";
import { FinishedConfig, type ResolvedConfig } from "./resolved-config.ts";
import { classifyServers, serverBlocks } from "./servers/server-schema.ts";

/** Data about a config file for listings. */
export interface ConfigMetadata {
  domain?: string;
  description?: string;
  /** What the environment is good for; only resources servers declare it. */
  value?: string;
}

/** Replaces missing values in a leniently read config. */
const STAND_IN = "(not set)";

/** The first non-empty value of each field over all instances as they are written, resources servers first. */
export function metadataOf(root: DictNode): ConfigMetadata {
  const metadata: ConfigMetadata = {};
  for (const { type, block } of serverBlocks(root)) {
    metadata.domain ??= filledText(block, "domain");
    metadata.description ??= filledText(block, "description");
    if (type === "resources_servers") metadata.value ??= filledText(block, "value");
  }
  return metadata;
}

function filledText(block: DictNode, field: string): string | undefined {
  const text = textOfNode(block.entries.get(field));
  return text === "" || text === STAND_IN ? undefined : text;
}

/**
 * Domain, description and value of a config file, from the file itself or else from the files that it includes. Never
 * fails on an invalid file, so that one file cannot break a listing.
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
 * Resolves a config file without command line and `env.yaml`; a placeholder replaces missing values. Ports and hosts
 * are not assigned.
 */
export function resolveLeniently(file: string, options: RootOptions = {}): ResolvedConfig {
  const root = composeLeniently(file, options);
  const { servers } = classifyServers(root);
  const { env = process.env, cwd = process.cwd() } = options;
  return new FinishedConfig(root, servers, env, { layers: [root], derivations: [], cwd });
}

function composeLeniently(file: string, options: RootOptions): DictNode {
  const noModel = !readConfigFile(file).entries.has("policy_model");
  const initial = { config_paths: [file] };
  return composeConfig({ ...options, initial, noModel, skipCli: true, skipEnvYaml: true, standIn: STAND_IN })
    .root;
}
