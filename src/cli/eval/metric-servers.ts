import { RunClient } from "../../calls/run-client.ts";
import type { ServerClient } from "../../calls/server-client.ts";
import { searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig, ServerInstance } from "../../config/resolved-config.ts";
import { startFromConfig } from "../../run/start-from-config.ts";
import type { CommandContext } from "../command.ts";
import { HeadServerError, headUrl, runningServers } from "../env/head.ts";

/** Servers that can be asked for the metrics of their agents. */
export interface MetricServers {
  client: ServerClient;
  /** What they are, for a status line. */
  origin: string;
  close(): Promise<void>;
}

/**
 * Finds servers for these agents: those that run already, else the ones of the config, which are started. Without either
 * there is nobody to ask. Models are not started: metrics need none.
 */
export async function findMetricServers(
  context: CommandContext,
  config: ResolvedConfig,
  agents: ReadonlySet<string>,
): Promise<MetricServers | undefined> {
  const running = await runningAddresses(context, config);
  if (running && [...agents].every((agent) => running.has(agent))) return overHttp(running);
  const needed = serversOf(config, agents);
  if (needed.length > 0) return start(context, withServers(config, needed));
  return running && [...agents].some((agent) => running.has(agent)) ? overHttp(running) : undefined;
}

async function runningAddresses(
  context: CommandContext,
  config: ResolvedConfig,
): Promise<Map<string, string> | undefined> {
  try {
    const servers = await runningServers(headUrl(config), context.signal);
    return new Map(servers.map((server) => [server.process_name, server.url]));
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof HeadServerError) return undefined;
    throw error;
  }
}

function overHttp(addresses: ReadonlyMap<string, string>): MetricServers {
  const client = new RunClient({ addresses });
  return { client, origin: "the servers that are running", close: () => client.close() };
}

/** The agents asked for that the config has, with their resources servers. */
function serversOf(config: ResolvedConfig, agents: ReadonlySet<string>): ServerInstance[] {
  const wanted = new Set<string>();
  for (const { name, type, config: block } of config.servers) {
    if (type !== "responses_api_agents" || !agents.has(name)) continue;
    wanted.add(name);
    const resources = (block["resources_server"] as { name?: unknown } | undefined)?.name;
    if (typeof resources === "string") wanted.add(resources);
  }
  return config.servers.filter(({ name }) => wanted.has(name));
}

async function start(context: CommandContext, config: ResolvedConfig): Promise<MetricServers> {
  const { io, env, installRoot, signal } = context;
  const servers = await startFromConfig(config, {
    roots: searchRoots({ cwd: io.cwd, env, installRoot }),
    installRoot,
    signal,
    head: false,
  });
  const names = config.servers.map(({ name }) => name).join(", ");
  return { client: servers.client, origin: `servers of the config (${names})`, close: () => servers.close() };
}

/** The same config with only some of its servers. */
export function withServers(config: ResolvedConfig, servers: readonly ServerInstance[]): ResolvedConfig {
  return {
    servers,
    toObject: (options) => config.toObject(options),
    toYaml: (options) => config.toYaml(options),
    get: (path) => config.get(path),
    explain: (path) => config.explain(path),
  };
}
