import { composeConfig } from "./compose.ts";
import { ConfigError } from "./errors.ts";
import type { DictNode } from "./node.ts";
import type { RootOptions } from "./paths.ts";
import { readConfigFile } from "./read-config-file.ts";
import { FinishedConfig, type ResolvedConfig } from "./resolved-config.ts";
import { type ConfigMetadata, metadataOf, STAND_IN } from "./servers/server-blocks.ts";
import { classifyServers } from "./servers/server-schema.ts";

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
 * A config file on its own, without command line and `env.yaml`; a stand-in replaces missing values. Ports
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
