import path from "node:path";
import {
  callback,
  checkOptions,
  flag,
  type OptionTable,
  oneOfWords,
  signal,
  text,
  texts,
} from "../base/check-options.ts";
import { GymError } from "../base/errors.ts";
import { Telemetry } from "../base/telemetry/door.ts";
import type { ResolvedConfig, ServerInstance } from "../config/door.ts";
import { citePositions, currentComponentName } from "../config/light-door.ts";
import { installRoot as packageRoot, searchRoots } from "../config/paths.ts";
import type { ServerDefinition } from "../servers/definitions/door.ts";
import {
  type HostedInstance,
  type RunningServers,
  runServers,
  type ServersEvent as ServerEvent,
} from "../servers/hosting/door.ts";
import { locateServer } from "../servers/hosting/light-door.ts";
import { type CostMeter, runMeter } from "../servers/model-endpoint/door.ts";
import { gymVersion } from "./gym-version.ts";
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

/** The options of servers that are part of an evaluation. */
export interface ResolvedStartOptions extends StartOptions {
  /** The telemetry of the evaluation. Default: the servers open and close their own. */
  telemetry?: Telemetry;
}

const optionTable: OptionTable<StartOptions> = {
  roots: texts.optional(),
  installRoot: text.optional(),
  head: flag.optional(),
  onEvent: callback.optional(),
  signal: signal.optional(),
  logDirectory: text.optional(),
  ownsProcess: flag.optional(),
  hosting: oneOfWords(["process"]).optional(),
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
  options: ResolvedStartOptions,
): Promise<RunningServers & { telemetry: Telemetry | undefined }> {
  const { installRoot = packageRoot(), roots = searchRoots({ installRoot }) } = options;
  const globalConfig: Record<string, unknown> = config.toObject();
  if (options.hosting) globalConfig["hosting"] = options.hosting;
  options.onMeter?.(runMeter(globalConfig));
  const configuredLogs = globalConfig["nemo_gym_log_dir"];
  const logDirectory =
    typeof configuredLogs === "string" ? path.resolve(configuredLogs) : options.logDirectory;
  const onNotice = (line: string) => options.onEvent?.({ type: "log", server: "run", line, level: "warn" });
  const telemetry = options.telemetry ?? openTelemetry(globalConfig, installRoot, onNotice);
  const closeOwn = async () => {
    if (!options.telemetry) await telemetry?.close();
  };
  try {
    const servers = await runServers({
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
      telemetry,
    });
    return { ...servers, telemetry, close: () => servers.close().finally(closeOwn) };
  } catch (error) {
    await closeOwn();
    if (error instanceof GymError) error.message = citePositions(error.message, config);
    throw error;
  }
}

/** The telemetry that a config enables. */
export function openTelemetry(
  globalConfig: Readonly<Record<string, unknown>>,
  installRoot: string,
  onNotice: (text: string) => void,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Telemetry | undefined {
  return Telemetry.open({
    block: globalConfig["telemetry"],
    env,
    version: gymVersion(installRoot),
    onNotice,
  });
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
