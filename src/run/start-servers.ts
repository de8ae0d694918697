import path from "node:path";
import {
  callback,
  checkOptions,
  flag,
  type OptionTable,
  oneOf,
  signal,
  text,
  texts,
} from "../base/check-options.ts";
import { GymError } from "../base/errors.ts";
import { citePositions } from "../config/cite-positions.ts";
import { installRoot as packageRoot, searchRoots } from "../config/paths.ts";
import type { ResolvedConfig, ServerInstance } from "../config/resolve.ts";
import { currentComponentName } from "../config/servers/aliases.ts";
import type { ServerDefinition } from "../servers/definitions/definitions.ts";
import type { HostedInstance } from "../servers/hosting/cohost.ts";
import { locateServer } from "../servers/hosting/locate-server.ts";
import {
  type RunningServers,
  runServers,
  type RunEvent as ServerEvent,
} from "../servers/hosting/processes/run-servers.ts";
import { type CostMeter, runMeter } from "../servers/model-endpoint/cost.ts";
import { headAddress } from "./head.ts";
import { type RunConfig, resolveRun } from "./run-config.ts";

export interface StartOptions {
  /** Directories in which configs and servers are looked up. Default: the working directory and the package. */
  roots?: readonly string[];
  /** The directory of the package. */
  installRoot?: string;
  /** Whether a head server lists the servers for other programs (`gym env status`, `connectToRun`). Default: true. */
  head?: boolean;
  onEvent?: (event: ServerEvent) => void;
  /**
   * Cancels the start, which rejects when what it has opened is closed. It waits at most 10 s for a server of this
   * process that is still starting, and closes that server later. `close()` stops running servers.
   */
  signal?: AbortSignal;
  /** Log directory if the config does not name one. Default: no log files. */
  logDirectory?: string;
  /**
   * Whether this process exists only for the servers. If so, processes that they started end with it. Default: false.
   */
  ownsProcess?: boolean;
  /** Runs every server in its own process, and ignores `hosting` in the config. */
  hosting?: "process";
  /** Receives the cost meter before any call, so that earlier spending can be added. */
  onMeter?: (meter: CostMeter) => void;
}

const optionTable: OptionTable<StartOptions> = {
  roots: texts.optional(),
  installRoot: text.optional(),
  head: flag.optional(),
  onEvent: callback.optional(),
  signal: signal.optional(),
  logDirectory: text.optional(),
  ownsProcess: flag.optional(),
  hosting: oneOf(["process"]).optional(),
  onMeter: callback.optional(),
};

/**
 * Starts the servers of a config. When it resolves, all of them accept requests.
 *
 * @example
 * const servers = await startServers({ configPaths: ["my.yaml"], model: { type: "random_model" } });
 * const reply = await servers.client.post("my_agent", "/run", row);
 * await servers.close();
 */
export async function startServers(given: RunConfig, options: StartOptions = {}): Promise<RunningServers> {
  checkOptions("startServers", optionTable, options);
  const { config, definitions } = await resolveRun(given);
  return startResolved(config, definitions, options);
}

export async function startResolved(
  config: ResolvedConfig,
  definitions: ReadonlyMap<string, ServerDefinition>,
  options: StartOptions,
): Promise<RunningServers> {
  const { installRoot = packageRoot(), roots = searchRoots({ installRoot }) } = options;
  const globalConfig: Record<string, unknown> = config.toObject();
  if (options.hosting) globalConfig["hosting"] = options.hosting;
  options.onMeter?.(runMeter(globalConfig));
  const configuredLogs = globalConfig["nemo_gym_log_dir"];
  const logDirectory =
    typeof configuredLogs === "string" ? path.resolve(configuredLogs) : options.logDirectory;
  try {
    return await runServers({
      instances: locateInstances(config, roots, definitions),
      globalConfig,
      configYaml: config.toYaml(),
      publicConfigYaml: config.toYaml({ resolve: true, hideSecrets: true }),
      roots,
      installRoot,
      head: options.head === false ? undefined : headAddress(globalConfig["head_server"]),
      logDirectory,
      onEvent: options.onEvent,
      signal: options.signal,
      ownsProcess: options.ownsProcess,
    });
  } catch (error) {
    if (error instanceof GymError) error.message = citePositions(error.message, config);
    throw error;
  }
}

/** The same config with only some of its servers. */
export function onlyServers(
  config: ResolvedConfig,
  isWanted: (server: ServerInstance) => boolean,
): ResolvedConfig {
  return {
    servers: config.servers.filter(isWanted),
    toObject: (options) => config.toObject(options),
    toYaml: (options) => config.toYaml(options),
    get: (key) => config.get(key),
    explain: (key) => config.explain(key),
  };
}

/** Finds the code of every configured server; servers with an inline definition need none. */
export function locateInstances(
  { servers }: Pick<ResolvedConfig, "servers">,
  roots: readonly string[],
  definitions: ReadonlyMap<string, ServerDefinition> = new Map(),
): HostedInstance[] {
  return servers.map((server) => {
    const { name, type, entrypoint, host, port, config } = server;
    const implementation = currentComponentName(server.implementation);
    const definition = definitions.get(name);
    const code = definition
      ? { directory: process.cwd(), entry: "", language: "node" as const, hasOwnDependencies: false }
      : locateServer({ name, type, implementation, entrypoint }, roots);
    return { name, type, implementation, host, port, config, code, definition };
  });
}
