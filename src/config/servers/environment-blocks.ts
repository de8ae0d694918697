import type { Derivation } from "../directives.ts";
import { ConfigError, place } from "../errors.ts";
import { DEFAULT_ORIGIN, type DictNode, dict, positionOf, scalar, textOfNode } from "../node.ts";
import { generatedName, RELAY } from "./environment-servers.ts";
import { serverBlocks } from "./server-schema.ts";

const AGENTS = "responses_api_agents";
const ENVIRONMENTS = "environment_servers";

/**
 * Adds the relays that blocks inherit or copy although no file declares them, in place. An agent without an environment
 * server has a relay with a name of its own, so configs may build on it.
 */
export function addInheritedRelays(root: DictNode): void {
  const wanted = new Set<string>();
  for (const block of root.entries.values()) {
    if (block.kind !== "dict") continue;
    const source = textOfNode(block.entries.get("_inherit_from") ?? block.entries.get("_copy"));
    if (source !== undefined && !root.entries.has(source)) wanted.add(source);
  }
  if (wanted.size === 0) return;
  const taken = new Set([...root.entries.keys()].map(String));
  for (const { type, name, implementation } of [...serverBlocks(root)]) {
    const relay = generatedName(name, implementation, taken);
    if (type === AGENTS && wanted.has(relay)) root.entries.set(relay, relayOf(name));
  }
}

function relayOf(agent: string): DictNode {
  const nested = (key: string, value: DictNode) => dict(DEFAULT_ORIGIN, [[key, value]]);
  const reference = dict(DEFAULT_ORIGIN, [
    ["type", scalar(AGENTS, DEFAULT_ORIGIN)],
    ["name", scalar(agent, DEFAULT_ORIGIN)],
  ]);
  const block = nested("agent_server", reference);
  block.entries.set("entrypoint", scalar("app.py", DEFAULT_ORIGIN));
  return nested(ENVIRONMENTS, nested(RELAY, block));
}

/** Where blocks went that `_inherit_from` moved to the top level under another name. */
export function movedBlocks(derivations: readonly Derivation[]): Map<string, string[]> {
  const moved = new Map<string, string[]>();
  for (const { name, source, target } of derivations) {
    const [before, after] = [source[0], target[0]];
    if (name !== "_inherit_from" || source.length !== 1 || target.length !== 1) continue;
    moved.set(String(before), [...(moved.get(String(before)) ?? []), String(after)]);
  }
  return moved;
}

/** Lets environment servers that name an agent which is gone name the agent that took its place. */
export function followAgents(root: DictNode, moved: ReadonlyMap<string, readonly string[]>): void {
  const agents = agentNames(root);
  for (const { path, reference, agent } of agentReferences(root)) {
    if (agents.has(agent)) continue;
    const targets = (moved.get(agent) ?? []).filter((target) => agents.has(target));
    const [target] = targets;
    const position = positionOf(reference);
    if (targets.length > 1)
      throw new ConfigError(
        `'${path}.name' is '${agent}'${place(position)}, which became several agents: ${targets.join(", ")}. Name one of them.`,
        { code: "CONFIG_ENVIRONMENT_SERVERS", position },
      );
    if (target !== undefined) reference.entries.set("name", scalar(target, reference.origin));
  }
}

/** Rejects agents that no environment server names, for `error_on_agent_without_environment_server`. */
export function requireEnvironmentServers(root: DictNode): void {
  const named = new Set([...agentReferences(root)].map(({ agent }) => agent));
  const alone = [...agentNames(root)].filter((agent) => !named.has(agent)).toSorted();
  if (alone.length === 0) return;
  throw new ConfigError(
    `These agents have no environment server: ${alone.join(", ")}. Add one for each, for example:\n` +
      `${alone[0]}_environment_server:\n  environment_servers:\n    legacy_agent:\n      entrypoint: app.ts\n` +
      `      agent_server: {type: ${AGENTS}, name: ${alone[0]}}\n` +
      "Without error_on_agent_without_environment_server, such agents get a relay.",
    { code: "CONFIG_ENVIRONMENT_SERVERS" },
  );
}

function agentNames(root: DictNode): Set<string> {
  return new Set([...serverBlocks(root)].flatMap(({ type, name }) => (type === AGENTS ? [name] : [])));
}

/** The agents that environment servers name as plain text. */
function* agentReferences(root: DictNode) {
  for (const { type, name, implementation, block } of serverBlocks(root)) {
    if (type !== ENVIRONMENTS) continue;
    for (const [field, reference] of block.entries) {
      if (reference.kind !== "dict") continue;
      if (textOfNode(reference.entries.get("type")) !== AGENTS && field !== "agent_server") continue;
      const agent = textOfNode(reference.entries.get("name"));
      if (agent !== undefined) yield { path: `${name}.${type}.${implementation}.${field}`, reference, agent };
    }
  }
}
