import path from "node:path";
import type { ResolvedConfig } from "../config/resolve.ts";
import { currentComponentName } from "../config/servers/aliases.ts";
import type { HostedInstance } from "../hosting/cohost.ts";
import { locateServer } from "../hosting/locate-server.ts";
import { type RunEvent, type RunningServers, runServers } from "../hosting/processes/run-servers.ts";
import { type CostMeter, runMeter } from "../model-endpoint/cost.ts";

export interface StartOptions {
  roots: readonly string[];
  installRoot: string;
  /** Whether a head server tells others about the run. */
  head?: boolean;
  onEvent?: (event: RunEvent) => void;
  signal?: AbortSignal;
  /** Used unless the config names a directory. */
  logDirectory?: string;
  /** Whether this process is there for the servers and nothing else. */
  ownsProcess?: boolean;
  /** Run every server in a process of its own, whatever the config says. */
  hosting?: "process";
  /** Gets the meter of the run before any call is made: what has been spent earlier is added to it. */
  onMeter?: (meter: CostMeter) => void;
}

/** Finds the code of every configured server. */
export function locateInstances(
  config: Pick<ResolvedConfig, "servers">,
  roots: readonly string[],
): HostedInstance[] {
  return config.servers.map((server) => {
    const implementation = currentComponentName(server.implementation);
    const { name, type, entrypoint, host, port } = server;
    const code = locateServer({ name, type, implementation, entrypoint }, roots);
    return { name, type, implementation, host, port, config: server.config, code };
  });
}

/** Starts everything a resolved config describes. */
export async function startFromConfig(
  config: ResolvedConfig,
  options: StartOptions,
): Promise<RunningServers> {
  const globalConfig: Record<string, unknown> = config.toObject();
  if (options.hosting) globalConfig["hosting"] = options.hosting;
  options.onMeter?.(runMeter(globalConfig));
  const headServer = (globalConfig["head_server"] ?? {}) as { host?: unknown; port?: unknown };
  const configuredLogs = globalConfig["nemo_gym_log_dir"];
  const logDirectory =
    typeof configuredLogs === "string" ? path.resolve(configuredLogs) : options.logDirectory;
  return runServers({
    instances: locateInstances(config, options.roots),
    globalConfig,
    configYaml: config.toYaml(),
    publicConfigYaml: config.toYaml({ resolve: true, hideSecrets: true }),
    roots: options.roots,
    installRoot: options.installRoot,
    ...(options.head !== false && {
      head: { host: String(headServer.host ?? "127.0.0.1"), port: Number(headServer.port ?? 11000) },
    }),
    ...(logDirectory !== undefined && { logDirectory }),
    ...(options.onEvent && { onEvent: options.onEvent }),
    ...(options.signal && { signal: options.signal }),
    ...(options.ownsProcess && { ownsProcess: true }),
  });
}
