import { isObject } from "../../base/python/json/door.ts";
import { ConfigError } from "../errors.ts";
import type { ServerType } from "./server-types.ts";

const SUFFIX = "_environment_server";
const AGENTS = "responses_api_agents";
/** The kind of environment server that only passes requests to its agent. */
export const RELAY = "legacy_agent";

/** A configured server, as far as routing needs it. */
export interface RoutedServer {
  readonly name: string;
  readonly type: ServerType;
  readonly implementation: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The environment server that runs the rollouts of an agent. */
export interface Environment {
  name: string;
  /** The implementation, such as `legacy_agent`. */
  kind: string;
  /** The agents that it names. */
  agents: readonly string[];
  /** The agent of its results; undefined if it names several. */
  agent: string | undefined;
  resources: string | undefined;
  /** Whether no config declares it. It then stands for a relay, and no server runs. */
  isGenerated: boolean;
}

/** The name of the relay of an agent that no environment server names. */
export function generatedName(
  agent: string,
  agentType: string,
  taken: ReadonlySet<string> = new Set(),
): string {
  const withoutType = agent.endsWith(agentType)
    ? agent.slice(0, -agentType.length).replace(/_+$/, "")
    : agent.replace(/_agent$/, "");
  let name = (withoutType || agentType) + SUFFIX;
  if (taken.has(name)) name = agent + SUFFIX;
  while (taken.has(name)) name += SUFFIX;
  return name;
}

/** The environment servers of a config: the declared ones, then the relays of agents that none of them names. */
export function environmentsOf(servers: readonly RoutedServer[]): Environment[] {
  const declared = servers.filter(({ type }) => type === "environment_servers").map(declaredEnvironment);
  const named = new Set(declared.flatMap(({ agents }) => agents));
  const taken = new Set(servers.map(({ name }) => name));
  const alone = servers.filter(({ type, name }) => type === AGENTS && !named.has(name));
  const generated = alone
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name: agent, implementation, config }) => {
      const name = generatedName(agent, implementation, taken);
      taken.add(name);
      const resources = referenceName(config["resources_server"]);
      return { name, kind: RELAY, agents: [agent], agent, resources, isGenerated: true };
    });
  return [...declared, ...generated];
}

function declaredEnvironment({ name, implementation, config }: RoutedServer): Environment {
  const named = Object.entries(config).flatMap(([field, value]) =>
    isObject(value) && (value["type"] === AGENTS || field === "agent_server") ? [value["name"]] : [],
  );
  const agents = [...new Set(named.filter((agent) => typeof agent === "string"))];
  const own = referenceName(config["agent_server"]);
  return {
    name,
    kind: implementation,
    agents,
    agent: own ?? (agents.length === 1 ? agents[0] : undefined),
    resources: referenceName(config["resources_server"]),
    isGenerated: false,
  };
}

function referenceName(value: unknown): string | undefined {
  const name = isObject(value) ? value["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** The one environment server of an agent; several are an error, because rows that name the agent fit all of them. */
export function environmentOfAgent(
  environments: readonly Environment[],
  agent: string,
): Environment | undefined {
  const fitting = environments.filter(({ agents }) => agents.includes(agent));
  if (fitting.length < 2) return fitting[0];
  throw new ConfigError(
    `The agent '${agent}' is named by several environment servers: ${fitting.map(({ name }) => name).join(", ")}. ` +
      "Choose one with environment_routing_mode: legacy and environment_server_name.",
    { code: "CONFIG_ENVIRONMENT_SERVERS" },
  );
}

/** Names for the results of environment servers: the agent if only one server has it, else the server. */
export function resultLabels(agents: ReadonlyMap<string, string | undefined>): Map<string, string> {
  const count = (label: string, among: Iterable<string | undefined>) =>
    [...among].filter((other) => other === label).length;
  const labels = new Map<string, string>();
  for (const [server, agent] of agents)
    labels.set(server, agent !== undefined && count(agent, agents.values()) === 1 ? agent : server);
  const repeated = new Set([...labels.values()].filter((label) => count(label, labels.values()) > 1));
  for (const [server, label] of labels) if (repeated.has(label)) labels.set(server, server);
  return labels;
}
