import { copyWith, isObject } from "../../base/python/json/door.ts";
import { suggest } from "../../base/suggest.ts";
import {
  type Environment,
  environmentOfAgent,
  type ResolvedConfig,
  type ServerInstance,
} from "../../config/door.ts";
import { RolloutError } from "../../records/errors.ts";
import type { Row } from "../../records/files/door.ts";
import { isTaskRow } from "../../wire/door.ts";

const MODES = ["agent", "legacy", "taskset"];

/** Which environment server runs a row: `environment_routing_mode` and the keys that belong to it. */
export interface Routing {
  mode: string;
  /** The server of every row with the mode `legacy`. */
  server?: string;
  /** The servers of tasks, by taskset. */
  routes: Readonly<Record<string, unknown>>;
  environments: readonly Environment[];
}

/** Reads and checks the routing keys of a config. */
export function readRouting(
  config: Pick<ResolvedConfig, "get">,
  environments: readonly Environment[],
): Routing {
  const mode = config.get("environment_routing_mode") ?? "agent";
  const server = config.get("environment_server_name") ?? undefined;
  const routes = config.get("environment_server_routes") ?? {};
  if (typeof mode !== "string" || !MODES.includes(mode))
    throw refused(`environment_routing_mode must be one of ${MODES.join(", ")}, not ${JSON.stringify(mode)}`);
  if (!isObject(routes) || Object.values(routes).some((name) => typeof name !== "string"))
    throw refused("environment_server_routes must map tasksets to names of environment servers");
  if (mode === "legacy" && typeof server !== "string")
    throw refused("environment_routing_mode: legacy needs environment_server_name");
  if (mode === "taskset" && Object.keys(routes).length === 0)
    throw refused("environment_routing_mode: taskset needs environment_server_routes {taskset: server}");
  const routing = { mode, routes, environments, ...(typeof server === "string" && { server }) };
  if (mode === "legacy") environmentNamed(routing, String(server), "environment_server_name");
  for (const [taskset, name] of Object.entries(routes))
    environmentNamed(routing, String(name), `environment_server_routes.${taskset}`);
  return routing;
}

/**
 * The row with its environment server, if it does not follow from its agent. A task of a taskset goes to the server of its taskset; other rows go to the one server of their agent, or
 * with the mode `legacy` to the named server. Rows that are already stamped stay where they are.
 */
export function routeRow(row: Row, routing: Routing): Row {
  const { mode, routes, environments } = routing;
  const stamped = row["_ng_environment_server"];
  if (isTaskRow(row)) {
    const { taskset } = row["task_id"] as Row;
    const name = stamped ?? routes[String(taskset)];
    if (typeof name !== "string")
      throw refused(
        `there is no route for the taskset ${JSON.stringify(taskset)}; add it to environment_server_routes`,
      );
    environmentNamed(routing, name, "_ng_environment_server");
    return copyWith(row, { _ng_environment_server: name });
  }
  if (mode === "taskset")
    throw refused(
      "the row is no task of a taskset (task_id {taskset, task_id}, task_input), which environment_routing_mode: taskset needs",
    );
  if (mode === "agent" && stamped === undefined) {
    // An agent with several servers is found before the first request.
    const agent = agentOf(row);
    if (agent !== undefined) environmentOfAgent(environments, agent);
    return row;
  }
  const environment = environmentNamed(routing, String(stamped ?? routing.server), "_ng_environment_server");
  const own = agentOf(row);
  if (own !== undefined && !environment.agents.includes(own))
    throw refused(
      `agent_ref names '${own}', which is no agent of '${environment.name}' (${environment.agents.join(", ")})`,
    );
  const source = row["task_source"] ?? undefined;
  if (source !== undefined && environment.resources !== undefined && source !== environment.resources)
    throw refused(
      `task_source is ${JSON.stringify(source)}, but '${environment.name}' is bound to '${environment.resources}'`,
    );
  const agent = own ?? environment.agent;
  return copyWith(row, {
    ...(own === undefined && agent !== undefined && { agent_ref: { name: agent } }),
    _ng_environment_server: environment.name,
  });
}

/** The agent for rows of a task source, which is an agent or a resources server that exactly one agent uses. */
export function agentOfSource(source: string, servers: readonly ServerInstance[]): string | undefined {
  const agents = servers.filter(({ type }) => type === "responses_api_agents");
  if (agents.some(({ name }) => name === source)) return source;
  const using = agentsUsing(source, agents);
  if (using.length < 2) return using[0];
  throw refused(
    `task_source is '${source}', which ${using.length} agents use (${using.join(", ")}); ` +
      `choose one: +agent_map={${source}: ${using[0]}}`,
  );
}

/** The agents that use a resources server. */
export function agentsUsing(resources: string, agents: readonly ServerInstance[]): string[] {
  return agents.flatMap(({ name, config: { resources_server: reference } }) =>
    isObject(reference) && reference["name"] === resources ? [name] : [],
  );
}

/** Reads and checks `fan_out`: lists of different agents by the agent or the task source that rows name. */
export function readFanOut(setting: unknown): Readonly<Record<string, string[]>> | undefined {
  if (setting === undefined || setting === null) return undefined;
  const isList = (agents: unknown): agents is string[] =>
    Array.isArray(agents) &&
    agents.length > 0 &&
    agents.every((agent) => typeof agent === "string") &&
    new Set(agents).size === agents.length;
  if (isObject(setting) && Object.values(setting).every(isList)) return setting as Record<string, string[]>;
  throw refused(
    "fan_out must map agents or task sources to lists of different agents, such as {quiz: [a, b]}",
  );
}

function agentOf(row: Row): string | undefined {
  const reference = row["agent_ref"];
  const name = isObject(reference) ? reference["name"] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function environmentNamed({ environments }: Routing, name: string, from: string): Environment {
  const found = environments.find((environment) => environment.name === name);
  if (found) return found;
  const names = environments.map((environment) => environment.name);
  const nearest = suggest(name, names);
  throw refused(
    `${from} names '${name}', which is no environment server${nearest === undefined ? "" : `; did you mean '${nearest}'?`} ` +
      `Environment servers: ${names.join(", ") || "none"}`,
  );
}

function refused(problem: string): RolloutError {
  return new RolloutError("ROLLOUT_ROUTING", `${problem}.`);
}
