import { ConfigError, place } from "../errors.ts";
import { mergeDicts } from "../merge.ts";
import { cloneNode, type DictNode, dict, isMissing, positionOf, scalar } from "../node.ts";
import { followAgents } from "./environment-blocks.ts";
import { type ServerBlock, serverBlocks } from "./server-schema.ts";

const AGENTS = "responses_api_agents";
/** The fields of an environment's agent that its replacement takes over. */
const TAKEN_OVER = ["resources_server", "model_server", "datasets"];

/**
 * Replaces the agents of environments by the agent that names no resources server, in place: for `replace_agents`, which
 * `--agent-type` sets.
 *
 * `own` are the instances that config files define. Other blocks are overrides for the new instances.
 */
export function swapAgents(root: DictNode, env: NodeJS.ProcessEnv, own: ReadonlySet<string>): void {
  const agents = [...serverBlocks(root)].filter(({ type, name }) => type === AGENTS && own.has(name));
  const sources = agents.filter(({ block }) => isUnbound(block));
  const [source] = sources;
  if (source === undefined) return;
  if (sources.length > 1)
    throw swapError(
      `Several agents name no resources server: ${quoted(sources)}. Give one with --agent-type, and set 'resources_server.name' of the others`,
      source,
    );
  const targets = agents.filter((agent) => agent !== source && agent.block.entries.has("resources_server"));
  if (targets.length === 0) return;
  const renamed = new Map<string, string>();
  root.entries.delete(source.name);
  for (const target of targets) {
    const name = newName(target, source.implementation);
    if (own.has(name) && name !== target.name)
      throw swapError(`'${target.name}' would become '${name}', which already exists`, target);
    if ([...renamed.values()].includes(name))
      throw swapError(`Two agents would become '${name}'; rename one of ${quoted(targets)}`, target);
    renamed.set(target.name, name);
    const overrides = root.entries.get(name);
    root.entries.delete(target.name);
    const block = cloneNode(source.block);
    for (const key of TAKEN_OVER) {
      const value = target.block.entries.get(key);
      if (value !== undefined) block.entries.set(key, value);
    }
    const instance = dict(source.block.origin, [
      [AGENTS, dict(source.block.origin, [[source.implementation, block]])],
    ]);
    root.entries.set(name, instance);
    if (overrides?.kind === "dict" && name !== target.name)
      mergeDicts(instance, overrides, { root, path: [name], env });
  }
  routeRows(root, renamed);
  followAgents(root, new Map([...renamed].map(([before, after]) => [before, [after]])));
}

/** Sends rows that name a replaced agent to its replacement. The user's entries take precedence. */
function routeRows(root: DictNode, renamed: ReadonlyMap<string, string>): void {
  const given = root.entries.get("agent_map");
  const map = given?.kind === "dict" ? given : dict(root.origin);
  for (const [before, after] of renamed)
    if (before !== after && !map.entries.has(before)) map.entries.set(before, scalar(after, root.origin));
  if (map.entries.size > 0) root.entries.set("agent_map", map);
}

/** Whether the block has a resources server whose name is missing. */
function isUnbound(block: DictNode): boolean {
  const reference = block.entries.get("resources_server");
  return reference?.kind === "dict" && isMissing(reference.entries.get("name"));
}

/** `gpqa_mcqa_simple_agent` with `hermes_agent` becomes `gpqa_mcqa_hermes_agent`. */
function newName({ name, implementation }: ServerBlock, type: string): string {
  const withoutType = name.endsWith(`_${implementation}`)
    ? name.slice(0, -implementation.length - 1)
    : name.replace(/_agent$/, "");
  return withoutType === "" || withoutType === implementation ? type : `${withoutType}_${type}`;
}

const quoted = (agents: readonly ServerBlock[]) => agents.map(({ name }) => `'${name}'`).join(", ");

function swapError(problem: string, { block }: ServerBlock): ConfigError {
  const position = positionOf(block);
  return new ConfigError(`${problem}${place(position)}.`, { code: "CONFIG_AGENT_SWAP", position });
}
