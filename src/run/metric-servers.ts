import type { ResolvedConfig } from "../config/door.ts";
import { RunClient, type ServerClient } from "../servers/calls/door.ts";
import { HeadServerError, headUrl, runningServers } from "./head.ts";
import { onlyServers, type StartOptions, startServers } from "./start-servers.ts";

/** Servers that can be asked for the metrics of their agents. */
export interface MetricServers {
  client: ServerClient;
  /** Description of the servers for a status line. */
  origin: string;
  close(): Promise<void>;
}

/**
 * Finds servers for these agents: the running ones, else those of the config, which are started. Undefined without
 * either. Model servers are not started, because metrics do not need them.
 */
export async function findMetricServers(
  config: ResolvedConfig,
  agents: ReadonlySet<string>,
  {
    roots,
    installRoot,
    signal = new AbortController().signal,
  }: Pick<StartOptions, "roots" | "installRoot" | "signal">,
): Promise<MetricServers | undefined> {
  const running = await runningAddresses(config, signal);
  if (running && [...agents].every((agent) => running.has(agent))) return overHttp(running);
  const needed = serversOf(config, agents);
  if (needed.size > 0) {
    const servers = await startServers(
      onlyServers(config, ({ name }) => needed.has(name)),
      { roots, installRoot, signal, head: false },
    );
    const origin = `servers of the config (${[...needed].join(", ")})`;
    return { client: servers.client, origin, close: () => servers.close() };
  }
  return running && [...agents].some((agent) => running.has(agent)) ? overHttp(running) : undefined;
}

async function runningAddresses(
  config: ResolvedConfig,
  signal: AbortSignal,
): Promise<Map<string, string> | undefined> {
  try {
    const servers = await runningServers(headUrl(config), signal);
    return new Map(servers.map((server) => [server.process_name, server.url]));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HeadServerError) return undefined;
    throw error;
  }
}

function overHttp(addresses: ReadonlyMap<string, string>): MetricServers {
  const client = new RunClient({ addresses });
  return { client, origin: "the servers that are running", close: () => client.close() };
}

/** The requested agents of the config with their resources servers, in config order. */
function serversOf(config: ResolvedConfig, agents: ReadonlySet<string>): Set<string> {
  const wanted = new Set<string>();
  for (const { name, type, config: block } of config.servers) {
    if (type !== "responses_api_agents" || !agents.has(name)) continue;
    wanted.add(name);
    const resources = (block["resources_server"] as { name?: unknown } | undefined)?.name;
    if (typeof resources === "string") wanted.add(resources);
  }
  return new Set(config.servers.map(({ name }) => name).filter((name) => wanted.has(name)));
}
