import { randomBytes } from "node:crypto";
import { untilAborted } from "../../calls/deadline.ts";
import { RunClient } from "../../calls/run-client.ts";
import { isObserved } from "../../capture/settings.ts";
import { findPath } from "../../config/paths.ts";
import { errorMessage, GymError } from "../../errors.ts";
import { BudgetServer } from "../../model-endpoint/budget/budget-server.ts";
import { rememberSecrets } from "../../secrets.ts";
import { CoHost, codeOf, type HostedInstance } from "../cohost.ts";
import { ServerExitError } from "../guards/exit-guard.ts";
import { serverOfError, strayText } from "../guards/hosted-code.ts";
import { type LoopLag, LoopMonitor } from "../guards/loop-monitor.ts";
import { captureOutput } from "../guards/output-capture.ts";
import { Watchdog, watchdogLimits } from "../guards/watchdog.ts";
import { allowedHostsOf } from "../host-settings.ts";
import { ListenError } from "../http-edge.ts";
import { HEAD_TOKEN_VARIABLE, HeadServer, type InstanceRecord } from "./head-server.ts";
import type { StartMessage } from "./messages.ts";
import { installNodeDependencies } from "./node-dependencies.ts";
import { type Placement, placementOf } from "./placement.ts";
import { checkPorts, portHolder } from "./ports.ts";
import { descendants, killLeftBehind } from "./process-tree.ts";
import { RayClusters } from "./ray-cluster.ts";
import { logSandboxCommands } from "./sandbox-log.ts";
import { ServerChild } from "./server-child.ts";
import { type LogLevel, ServerLog } from "./server-log.ts";
import { StartWatch, startLimitSeconds } from "./start-watch.ts";

/** Events while servers start and run; the caller decides which to show. */
export type RunEvent =
  | { type: "starting"; server: string; placement: Placement; url: string; log: string | undefined }
  | { type: "installing"; server: string }
  /** Some servers are not ready yet. */
  | { type: "waiting"; servers: readonly string[]; seconds: number }
  | { type: "ready"; server: string; url: string; milliseconds: number }
  | { type: "log"; server: string; line: string; level: LogLevel }
  | { type: "lag"; lag: LoopLag }
  | { type: "crashed"; server: string; message: string; lastLines: readonly string[] };

export interface RunServersOptions {
  instances: readonly HostedInstance[];
  globalConfig: Record<string, unknown>;
  /** The config as text: complete, and with secrets masked. */
  configYaml: string;
  publicConfigYaml: string;
  roots: readonly string[];
  installRoot: string;
  head?: { host: string; port: number };
  logDirectory?: string;
  onEvent?: (event: RunEvent) => void;
  signal?: AbortSignal;
  /** Whether this process exists for the servers. If so, processes that their code has started end with them. */
  ownsProcess?: boolean;
}

/** A server has stopped unexpectedly, or could not be started. */
export class ServerCrashError extends GymError {
  readonly server: string;
  readonly lastLines: readonly string[];

  constructor(server: string, message: string, lastLines: readonly string[]) {
    const log =
      lastLines.length === 0 ? "" : `\nIts last lines:\n${lastLines.map((line) => `  ${line}`).join("\n")}`;
    super("SERVER_CRASHED", `Server '${server}' ${message.replace(/\.$/, "")}.${log}`);
    this.server = server;
    this.lastLines = lastLines;
  }
}

/** The servers of one run, in this process and in others. */
export class RunningServers {
  readonly client: RunClient;
  readonly instances: InstanceRecord[];
  readonly headUrl: string | undefined;
  /** Rejects when a server stops unexpectedly. */
  readonly crashed: Promise<never>;
  readonly #close: () => Promise<void>;
  readonly #restart: (server: string) => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    client: RunClient;
    instances: InstanceRecord[];
    headUrl: string | undefined;
    crashed: Promise<never>;
    close: () => Promise<void>;
    restart: (server: string) => Promise<void>;
  }) {
    this.client = parts.client;
    this.instances = parts.instances;
    this.headUrl = parts.headUrl;
    this.crashed = parts.crashed;
    this.#close = parts.close;
    this.#restart = parts.restart;
  }

  /** Restarts a server that has its own process. Its calls and sessions are lost. */
  restart(server: string): Promise<void> {
    return this.#restart(server);
  }

  /** Stops all servers. When it resolves, no process is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }
}

/** Starts the servers of a run. When it resolves, all of them accept requests. */
export async function runServers(options: RunServersOptions): Promise<RunningServers> {
  const { instances, globalConfig, installRoot, signal } = options;
  rememberSecrets(globalConfig);
  checkPorts(instances, options.head);
  const startLimit = startLimitSeconds(globalConfig);
  const emit = options.onEvent ?? (() => {});
  const addresses = new Map(instances.map(({ name, host, port }) => [name, `http://${host}:${port}`]));
  const logs = new Map(instances.map(({ name }) => [name, serverLog(name, options, emit)]));
  const logOf = (name: string): ServerLog => {
    const log = logs.get(name) ?? serverLog(name, options, emit);
    logs.set(name, log);
    return log;
  };
  const placements = new Map(
    instances.map((instance) => [instance.name, placementOf(instance, globalConfig)]),
  );
  const children = new Map<string, ServerChild>();
  const before = options.ownsProcess ? descendants() : undefined;
  const headToken = process.env[HEAD_TOKEN_VARIABLE] || randomBytes(24).toString("base64url");
  const startTime = Date.now() / 1000;
  const crash = withResolvers<never>();
  crash.promise.catch(() => {});
  let cohost: CoHost | undefined;
  let watchdog: Watchdog | undefined;
  let head: HeadServer | undefined;
  let budgets: BudgetServer | undefined;
  let sockets: Map<string, string> | undefined;
  let stopping = false;
  const monitor = new LoopMonitor((lag) => emit({ type: "lag", lag }));

  const here = instances.filter(({ name }) => placements.get(name) === "cohosted");
  const codeHere = codeOf({ instances: here, installRoot });
  let endCapture: (() => void) | undefined;
  let endSandboxLog: (() => void) | undefined;
  let watch: StartWatch | undefined;

  const ray = new RayClusters();
  const sharesRay = [...placements.values()].filter((placement) => placement === "python").length > 1;
  let closed = false;
  // An exception outside a request, in the code of one server, must not end the rollouts of the others.
  const onStray = (error: unknown) => {
    const server = error instanceof ServerExitError ? error.server : serverOfError(error, codeHere);
    if (closed) {
      // After the stop, leftover timers of servers may still throw, which is ignored. Other exceptions are from this
      // package.
      if (server !== undefined) return;
      endStrays();
      throw error;
    }
    if (server !== undefined) logOf(server).logger.error(strayText(error));
    else emit({ type: "log", server: "co-hosted", line: `error: ${strayText(error)}`, level: "error" });
  };
  const endStrays = () => {
    process.off("uncaughtException", onStray);
    process.off("unhandledRejection", onStray);
  };
  const close = async () => {
    stopping = true;
    watch?.stop();
    monitor.stop();
    await Promise.allSettled([cohost?.close(), ...[...children.values()].map((child) => child.stop())]);
    await Promise.allSettled([watchdog?.stop(), ray.close()]);
    endCapture?.();
    endSandboxLog?.();
    await Promise.allSettled([head?.close(), client?.close()]);
    budgets?.close();
    if (before) killLeftBehind(before);
    for (const log of logs.values()) log.close();
    closed = true;
    // A program that exists for the servers ends now, together with its listeners.
    if (!options.ownsProcess) endStrays();
  };
  let client: RunClient | undefined;

  const startChild = async (instance: HostedInstance, placement: Placement): Promise<void> => {
    const log = logOf(instance.name);
    if (placement !== "python" && instance.code.hasOwnDependencies) {
      emit({ type: "installing", server: instance.name });
      await installNodeDependencies(instance.name, instance.code.directory, signal);
    }
    const message: StartMessage = {
      type: "start",
      instance,
      addresses: [...addresses],
      globalConfig,
      configYaml: options.configYaml,
      headToken,
      installRoot,
      roots: [...options.roots],
      sharesRay,
      ...(options.logDirectory !== undefined && { logDirectory: options.logDirectory }),
      ...(budgets && { budgets: budgets.socketPath }),
      ...(sockets && { link: linkOf(instance.name, sockets) }),
    };
    const child = new ServerChild(message, log, {
      lag: ({ type: _type, ...lag }) => emit({ type: "lag", lag }),
      ray: ({ versions, python }) =>
        ray.join(versions, python).then(
          (cluster) => ({ type: "ray", cluster }),
          (error: unknown) => {
            log.logger.warn(
              `the Ray cluster of the run cannot be had, this server starts its own: ${errorMessage(error)}`,
            );
            return { type: "ray" };
          },
        ),
    });
    children.set(instance.name, child);
    let isReady = false;
    void child.exited.then((exit) => {
      // A child that was never ready fails only its start or restart.
      if (isReady && !stopping && children.get(instance.name) === child)
        crash.reject(new ServerCrashError(instance.name, exit, log.recent));
    });
    try {
      await child.ready;
      isReady = true;
    } catch (error) {
      throw explainStart(error, instance, log);
    }
  };

  const restart = async (name: string): Promise<void> => {
    const instance = instances.find((candidate) => candidate.name === name);
    if (!instance || placements.get(name) === "cohosted")
      throw new GymError("SERVER_RESTART", `Server '${name}' has no process of its own.`);
    const old = children.get(name);
    children.delete(name);
    await old?.stop();
    await startChild(instance, placements.get(name) ?? "process");
  };

  try {
    signal?.throwIfAborted();
    const limits = watchdogLimits(globalConfig);
    if (here.length > 0) {
      // Started early, so that its thread runs before the first code is loaded.
      const startedBefore = before && { startedBefore: before };
      watchdog = new Watchdog(codeHere, limits, { installRoot, hasOneServer: false, ...startedBefore });
    }
    if (options.head) {
      head = await HeadServer.listen({
        ...options.head,
        allowedHosts: allowedHostsOf(globalConfig),
        publicYaml: options.publicConfigYaml,
        privateYaml: options.configYaml,
        token: headToken,
      }).catch((error: unknown) => {
        throw explainTaken(error, options.head?.port);
      });
    }
    if ([...placements.values()].some((placement) => placement === "process" || placement === "workers"))
      budgets = await BudgetServer.listen(globalConfig).catch((error: unknown) => {
        const line = `max_cost holds for each process, not for the run: ${errorMessage(error)}`;
        emit({ type: "log", server: "run", line, level: "warn" });
        return undefined;
      });
    sockets = budgets && linkSockets(placements, budgets);
    for (const { name } of instances) {
      const placement = placements.get(name) ?? "cohosted";
      emit({
        type: "starting",
        server: name,
        placement,
        url: addresses.get(name) ?? "",
        log: logOf(name).path,
      });
    }
    const readySince = Date.now();
    const names = instances.map(({ name }) => name);
    const onWaiting = (servers: readonly string[], seconds: number) =>
      emit({ type: "waiting", servers, seconds });
    watch = new StartWatch(names, { limitSeconds: startLimit, onWaiting });
    const startWatch = watch;
    const ready = (name: string) => {
      startWatch.ready(name);
      emit({
        type: "ready",
        server: name,
        url: addresses.get(name) ?? "",
        milliseconds: Date.now() - readySince,
      });
    };
    if (here.length > 0) {
      process.on("uncaughtException", onStray);
      process.on("unhandledRejection", onStray);
      if (options.logDirectory !== undefined && isObserved(globalConfig))
        endSandboxLog = logSandboxCommands(options.logDirectory, (error) =>
          emit({ type: "log", server: "run", line: `sandbox.log: ${error.message}`, level: "warn" }),
        );
      // In a program with other purposes, its output is not captured.
      if (options.ownsProcess)
        endCapture = captureOutput(
          () => (here.length === 1 ? here[0]?.name : monitor.running) ?? "co-hosted",
          (name, line, stream) => logOf(name).write(line, stream === "stdout" ? "info" : "error"),
        );
    }
    const startHere = async () => {
      cohost = await CoHost.start({
        instances: here,
        addresses,
        globalConfig,
        installRoot,
        findFile: (path) => findPath(path, options.roots),
        logger: (name) => logOf(name).logger,
        monitor,
        onStarted: (name) => startWatch.ready(name),
        ...(watchdog && { watchdog }),
        ...(budgets && sockets && { link: { socketPath: budgets.socketBeside("here"), sockets } }),
      }).catch((error: unknown) => {
        throw explainTaken(error, error instanceof ListenError ? error.port : undefined);
      });
      for (const { name } of here) ready(name);
    };
    const starts = instances
      .filter(({ name }) => placements.get(name) !== "cohosted")
      .map((instance) =>
        startChild(instance, placements.get(instance.name) ?? "process").then(() => ready(instance.name)),
      );
    const started = Promise.race([Promise.all([startHere(), ...starts]), watch.overdue]);
    await (signal ? untilAborted(started, signal) : started);
    watch.stop();
    monitor.begin();
    client = cohost ? cohost.client : new RunClient({ addresses });
    const records = instances.map((instance) =>
      recordOf(instance, children.get(instance.name)?.pid ?? process.pid, startTime),
    );
    head?.publish(records);
    crash.promise.catch((error: ServerCrashError) =>
      emit({ type: "crashed", server: error.server, message: error.message, lastLines: error.lastLines }),
    );
    return new RunningServers({
      client,
      instances: records,
      headUrl: head?.url,
      crashed: crash.promise,
      close,
      restart,
    });
  } catch (error) {
    await close();
    throw error;
  }
}

function serverLog(server: string, options: RunServersOptions, emit: (event: RunEvent) => void): ServerLog {
  return new ServerLog({
    server,
    ...(options.logDirectory !== undefined && { directory: options.logDirectory }),
    verbose: options.globalConfig["verbose"] === true,
    onLine: (line, level) => emit({ type: "log", server, line, level }),
    onFileError: (error) =>
      emit({ type: "log", server, line: `its log file: ${error.message}`, level: "warn" }),
  });
}

/** The socket of the process of each Node server. Servers with several workers have none: the workers share a port. */
function linkSockets(placements: ReadonlyMap<string, Placement>, budgets: BudgetServer): Map<string, string> {
  const sockets = new Map<string, string>();
  let number = 0;
  for (const [server, placement] of placements) {
    if (placement === "cohosted") sockets.set(server, budgets.socketBeside("here"));
    if (placement === "process") sockets.set(server, budgets.socketBeside(String(number++)));
  }
  return sockets;
}

function linkOf(server: string, sockets: ReadonlyMap<string, string>): NonNullable<StartMessage["link"]> {
  const socketPath = sockets.get(server);
  return { ...(socketPath !== undefined && { socketPath }), sockets: [...sockets] };
}

function recordOf(instance: HostedInstance, pid: number, startTime: number): InstanceRecord {
  return {
    config_path: instance.name,
    dir_path: instance.code.directory,
    entrypoint: String(instance.config["entrypoint"] ?? ""),
    host: instance.host,
    name: instance.implementation,
    pid,
    port: instance.port,
    process_name: instance.name,
    server_type: instance.type,
    start_time: startTime,
    status: null,
    uptime_seconds: null,
    url: `http://${instance.host}:${instance.port}`,
  };
}

function explainStart(error: unknown, instance: HostedInstance, log: ServerLog): Error {
  const message = errorMessage(error).replace(`Server '${instance.name}' could not start: `, "");
  if (message.includes("the port is taken")) return explainTaken(error, instance.port);
  return new ServerCrashError(instance.name, `could not start: ${message}`, log.recent);
}

/** Adds the process that holds the port to the error. */
function explainTaken(error: unknown, port: number | undefined): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (port === undefined || !error.message.includes("the port is taken")) return error;
  const holder = portHolder(port);
  const remedy = error.message.includes("'head_server'")
    ? " Another run may be up (gym env status); choose another port with ++head_server.port=N."
    : "";
  return new GymError(
    "SERVER_LISTEN",
    `${error.message}${holder ? ` It is held by ${holder}.` : ""}${remedy}`,
    {
      cause: error,
    },
  );
}

function withResolvers<T>(): { promise: Promise<T>; reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  return { promise, reject };
}
