/**
 * Resolves files, `env.yaml` and command line words to one config.
 *
 * @module
 */

import { type ComposedConfig, type ComposeOptions, composeConfig } from "./compose.ts";
import { olderSourceFields } from "./dataset-schema.ts";
import {
  DEFAULT_ORIGIN,
  fillDefaults,
  fillNetworkDefaults,
  passSkipVerification,
  topLevelValue,
} from "./defaults.ts";
import { NoServerInstancesError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import type { KeyPath } from "./key-path.ts";
import {
  almostServersError,
  almostServersNotice,
  likelyMistakes,
  refuseMisspeltKeys,
} from "./likely-mistakes.ts";
import { type ConfigNode, cloneNode, type DictNode, isTruthy } from "./node.ts";
import type { Override } from "./overrides/apply-overrides.ts";
import { readConfigText } from "./read-config-file.ts";
import {
  type Explanation,
  FinishedConfig,
  type ResolvedConfig,
  type ServerInstance,
} from "./resolved-config.ts";
import { maskConfig } from "./secrets.ts";
import { assignAddresses } from "./servers/addresses.ts";
import { checkPairing } from "./servers/pairing.ts";
import { checkSandboxReferences } from "./servers/sandbox-blocks.ts";
import { checkServerReferences } from "./servers/server-references.ts";
import { classifyServers, type ServerBlock } from "./servers/server-schema.ts";
import type { ServerType } from "./servers/server-types.ts";
import { writeYaml } from "./yaml/write.ts";

export type { Explanation, Override, ResolvedConfig, ServerInstance, ServerType };

export interface ResolveOptions extends ComposeOptions {
  /** Replaces the values of secret keys with `****` in all output of the result. */
  hideSecrets?: boolean;
  /** No probing of ports (missing ones become -1) and no lookup of host names. */
  offline?: boolean;
  /** Fails when the config has no servers. */
  requireServers?: boolean;
  /** Refuses resources servers without a `domain`, as the Python original does. */
  requireDomain?: boolean;
  /** For tests: where ports come from. */
  random?: () => number;
}

/**
 * Resolves a config: loads and merges its sources, applies directives, checks servers and references, fills in
 * defaults, hosts and ports. Every mistake of the user is a `ConfigError`.
 *
 * @example
 * const config = await resolveConfig({ overrides: ["+config_paths=[my.yaml]", "++policy_model_name=gpt-4.1"] });
 * for (const server of config.servers) console.log(server.name, server.port);
 */
export async function resolveConfig(options: ResolveOptions = {}): Promise<ResolvedConfig> {
  const composed = composeConfig(options);
  const { root, env } = composed;
  const servers = checkedServers(composed, options);
  const network = await fillNetworkDefaults(root, { ...composed, offline: options.offline ?? false });
  checkTopLevel(root, new Interpolator(root, env));
  checkServerReferences(servers, new Interpolator(root, env), (text) => composed.notice(text, "stderr"));
  checkPairing(servers, env, isTruthy(topLevelValue(root, "allow_unsupported_pairing", env)));
  checkSandboxReferences(root, servers, new Interpolator(root, env));
  const ports = await assignAddresses(
    servers,
    network.host,
    network.range,
    network.headPort,
    DEFAULT_ORIGIN,
    { offline: options.offline ?? false, random: options.random },
  );
  root.entries.set("disallowed_ports", ports);
  fillDefaults(root, { ...composed, offline: options.offline ?? false });
  const agents = servers.filter(({ type }) => type === "responses_api_agents").map(({ block }) => block);
  passSkipVerification(root, agents, env);
  checkListElements(root, new Interpolator(root, env));
  if (options.requireServers && servers.length === 0) throw nothingToRun();
  if (options.hideSecrets) maskConfig(root, new Interpolator(root, env));
  return new FinishedConfig(root, servers, env, composed.provenance, options.hideSecrets ?? false);
}

/** The config a parent process passed on in `NEMO_GYM_CONFIG_DICT`: used as it is, nothing is checked or filled in. */
export function loadConfigFromEnv(yamlText: string, env: NodeJS.ProcessEnv = process.env): ResolvedConfig {
  const root = readConfigText(yamlText, { kind: "environment", name: "NEMO_GYM_CONFIG_DICT" });
  const { servers } = classifyServers(root);
  return new FinishedConfig(
    root,
    servers,
    env,
    { layers: [root], derivations: [], cwd: process.cwd() },
    false,
  );
}

/** The valid servers; blocks that only look like one are reported, and fatal unless the config says otherwise. */
function checkedServers(composed: ComposedConfig, options: ResolveOptions): ServerBlock[] {
  const { root, env, notice } = composed;
  const { servers, almostServers } = classifyServers(root, { requireDomain: options.requireDomain });
  if (almostServers.length > 0) {
    notice(almostServersNotice(almostServers), "stdout");
    const fatal = topLevelValue(root, "error_on_almost_servers", env);
    if (fatal === undefined || isTruthy(fatal)) {
      const masked = cloneNode(root);
      maskConfig(masked, new Interpolator(masked, env));
      const names = new Set(almostServers.map(({ name }) => name));
      for (const key of masked.entries.keys()) if (!names.has(String(key))) masked.entries.delete(key);
      throw almostServersError(almostServers, writeYaml(masked));
    }
  }
  refuseMisspeltKeys(root, servers);
  for (const mistake of likelyMistakes(root, servers)) notice(`Warning: ${mistake}`, "stderr");
  for (const { name, block } of servers) noticeOlderSources(name, block, notice);
  return servers;
}

function noticeOlderSources(
  name: string,
  block: ServerBlock["block"],
  notice: ComposedConfig["notice"],
): void {
  const datasets = block.entries.get("datasets");
  const items = datasets?.kind === "list" ? datasets.items : [];
  const fields = new Set(items.flatMap(olderSourceFields));
  for (const field of fields)
    notice(`Warning: '${field}' in the datasets of '${name}' is deprecated; use 'source' instead.`, "stderr");
}

function nothingToRun(): NoServerInstancesError {
  return new NoServerInstancesError(
    "No server instances are configured, so there is nothing to run. Name what to start, for example:\n" +
      "  gym env start --resources-server example_single_tool_call --model-type openai_model",
  );
}

/**
 * Interpolations are resolved when they are read. These checks read what every user of a config will read, so that a
 * broken one is reported now and not in the middle of a run; deeper values are resolved on first use.
 */

/** Reads every top-level value. */
function checkTopLevel(root: DictNode, interpolator: Interpolator): void {
  for (const [key, node] of root.entries) interpolator.resolve(node, [String(key)]);
}

/** Reads every single value that stands in a list, at any depth. */
function checkListElements(node: ConfigNode, interpolator: Interpolator, path: KeyPath = []): void {
  if (node.kind === "dict")
    for (const [key, member] of node.entries) checkListElements(member, interpolator, [...path, String(key)]);
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      if (item.kind === "scalar") interpolator.resolve(item, [...path, index]);
      else checkListElements(item, interpolator, [...path, index]);
    }
  }
}
