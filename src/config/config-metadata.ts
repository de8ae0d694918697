import { composeConfig } from "./compose.ts";
import { ConfigError } from "./errors.ts";
import type { DictNode } from "./node.ts";
import type { RootOptions } from "./paths.ts";
import { readConfigFile } from "./read-config-file.ts";
import { FinishedConfig, type ResolvedConfig } from "./resolved-config.ts";
import { type ConfigMetadata, metadataOf, STAND_IN } from "./servers/server-blocks.ts";
import { classifyServers } from "./servers/server-schema.ts";

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
  return new FinishedConfig(root, servers, env, { layers: [root], derivations: [], cwd }, false);
}

function composeLeniently(file: string, options: RootOptions): DictNode {
  const noModel = !readConfigFile(file).entries.has("policy_model");
  const initial = { config_paths: [file] };
  return composeConfig({ ...options, initial, noModel, skipCli: true, skipEnvYaml: true, standIn: STAND_IN })
    .root;
}
