/**
 * Resolves files, `env.yaml` and command line words to one config.
 *
 * @module
 */

import { type ComposedConfig, type ComposeOptions, composeConfig } from "./compose.ts";
import { fillDefaults, fillNetworkDefaults, passSkipVerification, topLevelValue } from "./defaults.ts";
import { NoServerInstancesError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { scalarsIn } from "./key-path.ts";
import {
  almostServersError,
  almostServersNotice,
  likelyMistakes,
  rejectMisspeltKeys,
} from "./likely-mistakes.ts";
import { type DictNode, isTruthyNode } from "./node.ts";
import type { Override } from "./overrides/apply-overrides.ts";
import { readConfigText } from "./read-config-file.ts";
import {
  type Explanation,
  FinishedConfig,
  type ResolvedConfig,
  type ServerInstance,
} from "./resolved-config.ts";
import { maskConfig, maskedCopy } from "./secrets.ts";
import { assignAddresses } from "./servers/addresses.ts";
import { requireEnvironmentServers } from "./servers/environment-blocks.ts";
import { modelUseWarnings } from "./servers/model-use.ts";
import { checkSandboxReferences } from "./servers/sandbox-blocks.ts";
import { checkPairing, checkServerReferences } from "./servers/server-references.ts";
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
  /** Rejects resources servers without a `domain`, as the Python original does. */
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
  const network = await fillNetworkDefaults(root, env, options.offline);
  checkTopLevel(root, new Interpolator(root, env));
  checkServerReferences(servers, new Interpolator(root, env), (text) => composed.notice(text, "stderr"));
  for (const warning of modelUseWarnings(root, servers, new Interpolator(root, env)))
    composed.notice(`Warning: ${warning}`, "stderr");
  checkPairing(servers, env, isTruthyNode(topLevelValue(root, "allow_unsupported_pairing", env)));
  if (isTruthyNode(topLevelValue(root, "error_on_agent_without_environment_server", env)))
    requireEnvironmentServers(root);
  // Like a model, a sandbox may come from another config.
  if (!options.noModel) checkSandboxReferences(root, servers, new Interpolator(root, env));
  root.entries.set("disallowed_ports", await assignAddresses(servers, network, options));
  fillDefaults(root, composed);
  const agents = servers.filter(({ type }) => type === "responses_api_agents").map(({ block }) => block);
  passSkipVerification(root, agents, env);
  checkListElements(root, new Interpolator(root, env));
  if (options.requireServers && servers.length === 0) throw nothingToRun();
  if (options.hideSecrets) maskConfig(root, env);
  return new FinishedConfig(root, servers, env, composed.provenance, options.hideSecrets ?? false);
}

/** The config that a parent process passed in `NEMO_GYM_CONFIG_DICT`. It is not checked, and no defaults are added. */
export function loadConfigFromEnv(yamlText: string, env: NodeJS.ProcessEnv = process.env): ResolvedConfig {
  const root = readConfigText(yamlText, { kind: "environment", name: "NEMO_GYM_CONFIG_DICT" });
  const { servers } = classifyServers(root);
  return new FinishedConfig(root, servers, env, { layers: [root], derivations: [], cwd: process.cwd() });
}

/** The valid servers. Reports blocks that only look like servers, and throws unless the config allows them. */
function checkedServers(composed: ComposedConfig, options: ResolveOptions): ServerBlock[] {
  const { root, env, notice } = composed;
  const { servers, almostServers } = classifyServers(root, { requireDomain: options.requireDomain });
  if (almostServers.length > 0) {
    notice(almostServersNotice(almostServers), "stdout");
    const fatal = topLevelValue(root, "error_on_almost_servers", env);
    if (fatal === undefined || isTruthyNode(fatal)) {
      const masked = maskedCopy(root, env);
      const names = new Set(almostServers.map(({ name }) => name));
      for (const key of masked.entries.keys()) if (!names.has(String(key))) masked.entries.delete(key);
      throw almostServersError(almostServers, writeYaml(masked));
    }
  }
  rejectMisspeltKeys(root, servers);
  for (const mistake of likelyMistakes(root, servers, { isPart: options.noModel }))
    notice(`Warning: ${mistake}`, "stderr");
  return servers;
}

function nothingToRun(): NoServerInstancesError {
  return new NoServerInstancesError(
    "No server instances are configured, so there is nothing to run. Choose what to start, for example:\n" +
      "  gym env start --resources-server example_single_tool_call --model-type openai_model",
  );
}

/**
 * Resolves every top-level value. Interpolations are otherwise resolved when a value is read. This check and
 * `checkListElements` report broken ones at the start and not in the middle of a run.
 */
function checkTopLevel(root: DictNode, interpolator: Interpolator): void {
  for (const [key, node] of root.entries) interpolator.resolve(node, [String(key)]);
}

/** Resolves every scalar that is an element of a list, at any depth. */
function checkListElements(root: DictNode, interpolator: Interpolator): void {
  for (const { node, path } of scalarsIn(root))
    if (typeof path.at(-1) === "number") interpolator.resolve(node, path);
}
