import { randomBytes } from "node:crypto";
import { errorMessage, GymError } from "../../../base/errors.ts";
import { rememberSecrets } from "../../../base/secrets.ts";
import type { Telemetry } from "../../../base/telemetry/door.ts";
import { abortController, settledWithin, untilAborted } from "../../../base/transport/light-door.ts";
import { findPath } from "../../../config/paths.ts";
import type { RunClient } from "../../calls/run-client.ts";
import { isObserved } from "../../capture/settings.ts";
import { BudgetServer } from "../../model-endpoint/budget/budget-server.ts";
import { CoHost, type HostedInstance, hostedCodeOf } from "../cohost.ts";
import { catchStrays, type HostedCode } from "../guards/hosted-code.ts";
import { type LoopLag, LoopMonitor } from "../guards/loop-monitor.ts";
import { captureOutput } from "../guards/output-capture.ts";
import { Watchdog, watchdogLimits } from "../guards/watchdog.ts";
import { allowedHostsOf, type Placement, placementOf } from "../host-settings.ts";
import { ListenError } from "../http-edge.ts";
import {
  HEAD_TOKEN_VARIABLE,
  type HeadServer,
  type InstanceRecord,
  instanceRecord,
  startHeadServer,
} from "./head-server.ts";
import { installNodeDependencies } from "./install-dependencies.ts";
import type { StartMessage } from "./messages.ts";
import { checkPorts, explainTaken } from "./ports.ts";
import { descendants, killLeftBehind } from "./process-tree.ts";
import { RayClusters } from "./ray-cluster.ts";
import { ServerChild } from "./server-child.ts";
import { type LogLevel, logSandboxCommands, ServerLog } from "./server-log.ts";
import { StartWatch, startLimitSeconds } from "./start-watch.ts";

/**
 * How long a failed start waits for servers of this process that are still starting, because their code cannot be
 * killed. They are closed when they have started.
 */
const UNFINISHED_START_MS = 10_000;

/** Events while servers start and run; the caller decides which to show. */
export type ServersEvent =
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
  /** The telemetry of the run. Whoever has opened it closes it. */
  telemetry?: Telemetry;
  onEvent?: (event: ServersEvent) => void;
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
export interface RunningServers {
  readonly client: RunClient;
  readonly instances: InstanceRecord[];
  readonly headUrl: string | undefined;
  /** Rejects when a server stops unexpectedly. */
  readonly crashed: Promise<never>;
  /** Restarts a server that has its own process. Its calls and sessions are lost. */
  restart(server: string): Promise<void>;
  /** Stops all servers. When it resolves, no process is left. */
  close(): Promise<void>;
}

/** Starts the servers of a run. When it resolves, all of them accept requests. */
export async function runServers(options: RunServersOptions): Promise<RunningServers> {
  rememberSecrets(options.globalConfig);
  checkPorts(options.instances, options.head);
  const servers = new ServerRun(options);
  try {
    return await servers.start();
  } catch (error) {
    await servers.close();
    throw error;
  }
}

class ServerRun {
  readonly #options: RunServersOptions;
  readonly #emit: (event: ServersEvent) => void;
  readonly #urls: ReadonlyMap<string, string>;
  readonly #placements: ReadonlyMap<string, Placement>;
  /** The instances in this process, and their code. */
  readonly #here: readonly HostedInstance[];
  readonly #codeHere: readonly HostedCode[];
  readonly #watch: StartWatch;
  readonly #monitor: LoopMonitor;
  readonly #logs = new Map<string, ServerLog>();
  readonly #children = new Map<string, ServerChild>();
  readonly #ray = new RayClusters();
  readonly #headToken = process.env[HEAD_TOKEN_VARIABLE] || randomBytes(24).toString("base64url");
  readonly #startedAt = Date.now();
  /** Processes that existed before the servers, if those that the servers start must end with them. */
  readonly #startedBefore: readonly number[] | undefined;
  readonly #crashed: Promise<never>;
  #crash: (error: ServerCrashError) => void = () => {};
  #budgets: BudgetServer | undefined;
  /** The sockets between the processes of the run, by server. */
  #sockets: ReadonlyMap<string, string> | undefined;
  #cohost: CoHost | undefined;
  #strays: ReturnType<typeof catchStrays> | undefined;
  /** Release what has been opened, in reverse order. */
  readonly #endings: (() => unknown)[] = [];
  readonly #stop = abortController();
  /** Settles when no server is starting any more. */
  #starting: Promise<unknown> | undefined;
  #isRunning = false;
  #closing: Promise<void> | undefined;

  constructor(options: RunServersOptions) {
    const { instances, globalConfig, installRoot } = options;
    this.#options = options;
    this.#emit = options.onEvent ?? (() => {});
    this.#urls = new Map(instances.map(({ name, host, port }) => [name, `http://${host}:${port}`]));
    this.#placements = new Map(instances.map((each) => [each.name, placementOf(each, globalConfig)]));
    this.#here = instances.filter(({ name }) => this.#placements.get(name) === "cohosted");
    this.#codeHere = hostedCodeOf({ instances: this.#here, installRoot });
    this.#startedBefore = options.ownsProcess ? descendants() : undefined;
    this.#watch = new StartWatch([...this.#urls.keys()], {
      limitSeconds: startLimitSeconds(globalConfig),
      onWaiting: (servers, seconds) => this.#emit({ type: "waiting", servers, seconds }),
    });
    this.#monitor = new LoopMonitor((lag) => this.#emit({ type: "lag", lag }));
    this.#crashed = new Promise((_, reject) => {
      this.#crash = reject;
    });
    this.#crashed.catch(() => {});
  }

  async start(): Promise<RunningServers> {
    const { instances, globalConfig, installRoot, signal, head: headAddress } = this.#options;
    signal?.throwIfAborted();
    const limits = watchdogLimits(globalConfig);
    let watchdog: Watchdog | undefined;
    if (this.#here.length > 0) {
      // Started early, so that its thread runs before the first code is loaded.
      const startedBefore = this.#startedBefore;
      watchdog = new Watchdog(this.#codeHere, limits, { installRoot, hasOneServer: false, startedBefore });
      this.#endings.push(() => watchdog?.stop());
    }
    const head = headAddress && (await this.#startHead(headAddress));
    await this.#openSockets();
    for (const [server, placement] of this.#placements)
      this.#emit({
        type: "starting",
        server,
        placement,
        url: this.#urlOf(server),
        log: this.#log(server).path,
      });
    if (this.#here.length > 0) this.#observeThisProcess();
    this.#endings.push(() => this.#stopServers());
    const elsewhere = instances.filter(({ name }) => this.#placements.get(name) !== "cohosted");
    const starts = elsewhere.map(async (instance) => {
      await this.#startChild(instance);
      this.#ready(instance.name);
    });
    const startHere = this.#startHere(watchdog);
    this.#starting = Promise.allSettled([startHere, ...starts]);
    const started = Promise.race([Promise.all([startHere, ...starts]), this.#watch.overdue]);
    const [{ client }] = await (signal ? untilAborted(started, signal) : started);
    this.#isRunning = true;
    this.#watch.stop();
    this.#monitor.begin();
    const records = instances.map((instance) =>
      instanceRecord(instance, this.#children.get(instance.name)?.pid ?? process.pid, this.#startedAt),
    );
    head?.publish(records);
    this.#countServers(records.length);
    this.#endings.push(() => this.#countServers(0));
    this.#crashed.catch(({ server, message, lastLines }: ServerCrashError) =>
      this.#emit({ type: "crashed", server, message, lastLines }),
    );
    return {
      client,
      instances: records,
      headUrl: head?.url,
      crashed: this.#crashed,
      restart: (server) => this.#restart(server),
      close: () => this.close(),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watch.stop();
    this.#monitor.stop();
    for (const end of this.#endings.reverse())
      try {
        await end();
      } catch {
        // The other parts still have to be released.
      }
    if (this.#startedBefore) killLeftBehind(this.#startedBefore);
    for (const log of this.#logs.values()) log.close();
    // A program that exists for the servers ends now, together with its listeners.
    this.#strays?.close({ listen: this.#options.ownsProcess ?? false });
  }

  async #stopServers(): Promise<void> {
    this.#stop.abort();
    const children = [...this.#children.values()].map((child) => child.stop());
    const stopped = Promise.allSettled([this.#cohost?.close(), ...children, this.#starting]);
    await (this.#isRunning ? stopped : settledWithin(stopped, UNFINISHED_START_MS));
    await this.#ray.close();
  }

  async #startHead(address: { host: string; port: number }): Promise<HeadServer> {
    const { globalConfig, configYaml, publicConfigYaml } = this.#options;
    try {
      const head = await startHeadServer({
        ...address,
        allowedHosts: allowedHostsOf(globalConfig),
        publicYaml: publicConfigYaml,
        privateYaml: configYaml,
        token: this.#headToken,
      });
      this.#endings.push(() => head.close());
      return head;
    } catch (error) {
      throw explainTaken(error, address.port);
    }
  }

  get #hasBudget(): boolean {
    const { globalConfig, instances } = this.#options;
    return [globalConfig, ...instances.map(({ config }) => config)].some(
      ({ max_cost }) => max_cost !== undefined && max_cost !== null,
    );
  }

  /** Lets processes of the run share budgets and call each other without HTTP. */
  async #openSockets(): Promise<void> {
    const placements = [...this.#placements];
    if (!placements.some(([, placement]) => placement === "process" || placement === "workers")) return;
    let budgets: BudgetServer;
    try {
      budgets = await BudgetServer.listen(this.#options.globalConfig);
    } catch (error) {
      // Without the socket, every process would spend the whole budget.
      if (this.#hasBudget) throw error;
      const line = `The servers call each other over HTTP: ${errorMessage(error)}`;
      this.#emit({ type: "log", server: "run", line, level: "warn" });
      return;
    }
    this.#endings.push(() => budgets.close());
    this.#budgets = budgets;
    // Servers with several workers have no socket: the workers share a port.
    const sockets = new Map<string, string>();
    let number = 0;
    for (const [server, placement] of placements) {
      if (placement === "cohosted") sockets.set(server, budgets.socketBeside("here"));
      if (placement === "process") sockets.set(server, budgets.socketBeside(String(number++)));
    }
    this.#sockets = sockets;
  }

  /** Attributes output, exceptions and sandbox commands of this process to its servers. */
  #observeThisProcess(): void {
    const { globalConfig, logDirectory, ownsProcess } = this.#options;
    this.#strays = catchStrays(this.#codeHere, (text, server) => {
      if (server !== undefined) this.#log(server).logger.error(text);
      else this.#emit({ type: "log", server: "co-hosted", line: `error: ${text}`, level: "error" });
    });
    if (logDirectory !== undefined && isObserved(globalConfig))
      this.#endings.push(
        logSandboxCommands(logDirectory, (error) =>
          this.#emit({ type: "log", server: "run", line: `sandbox.log: ${error.message}`, level: "warn" }),
        ),
      );
    // In a program with other purposes, its output is not captured.
    if (!ownsProcess) return;
    const [only, ...others] = this.#here;
    const endCapture = captureOutput(
      () => (others.length === 0 ? only?.name : this.#monitor.running) ?? "co-hosted",
      (name, line, stream) => this.#log(name).write(line, stream === "stdout" ? "info" : "error"),
    );
    this.#endings.push(endCapture);
  }

  async #startHere(watchdog: Watchdog | undefined): Promise<CoHost> {
    const { globalConfig, installRoot, roots } = this.#options;
    const socketPath = this.#budgets?.socketBeside("here");
    const cohost = new CoHost({
      instances: this.#here,
      addresses: this.#urls,
      globalConfig,
      installRoot,
      findFile: (path) => findPath(path, roots),
      logger: (name) => this.#log(name).logger,
      monitor: this.#monitor,
      watchdog,
      telemetry: this.#options.telemetry,
      onStarted: (name) => this.#watch.ready(name),
      link: this.#sockets && { socketPath, sockets: this.#sockets },
    });
    this.#cohost = cohost;
    await cohost.start().catch((error: unknown) => {
      throw explainTaken(error, error instanceof ListenError ? error.port : undefined);
    });
    for (const { name } of this.#here) this.#ready(name);
    return cohost;
  }

  async #startChild(instance: HostedInstance): Promise<void> {
    const { globalConfig, configYaml, installRoot, roots, logDirectory, telemetry } = this.#options;
    const { name, code } = instance;
    const log = this.#log(name);
    if (code.language === "node" && code.hasOwnDependencies)
      await installNodeDependencies(name, code.directory, this.#stop.signal, () =>
        this.#emit({ type: "installing", server: name }),
      );
    this.#stop.signal.throwIfAborted();
    const pythonServers = [...this.#placements.values()].filter((placement) => placement === "python");
    const message: StartMessage = {
      type: "start",
      instance,
      addresses: [...this.#urls],
      globalConfig,
      configYaml,
      headToken: this.#headToken,
      installRoot,
      roots: [...roots],
      sharesRay: pythonServers.length > 1,
      logDirectory,
      variables: telemetry?.variables ?? {},
      version: telemetry?.version,
      budgetSocketPath: this.#budgets?.socketPath,
      link: this.#sockets && { socketPath: this.#sockets.get(name), sockets: [...this.#sockets] },
    };
    const child = new ServerChild(message, log, {
      lag: ({ type: _type, ...lag }) => this.#emit({ type: "lag", lag }),
      ray: ({ versions, python }) =>
        this.#ray.join(versions, python).then(
          (cluster) => ({ type: "ray", cluster }),
          (error: unknown) => {
            log.logger.warn(
              `the Ray cluster of the run is not available, so this server starts its own: ${errorMessage(error)}`,
            );
            return { type: "ray" };
          },
        ),
    });
    this.#children.set(name, child);
    let isReady = false;
    void child.exited.then((exit) => {
      // A child that was never ready fails only its start or restart.
      if (isReady && this.#closing === undefined && this.#children.get(name) === child)
        this.#crash(new ServerCrashError(name, exit, log.recent));
    });
    try {
      await child.ready;
      isReady = true;
    } catch (error) {
      throw explainStart(error, instance, log);
    }
  }

  async #restart(name: string): Promise<void> {
    const instance = this.#options.instances.find((candidate) => candidate.name === name);
    if (!instance || this.#placements.get(name) === "cohosted")
      throw new GymError("SERVER_RESTART", `Server '${name}' does not run in its own process.`);
    const old = this.#children.get(name);
    this.#children.delete(name);
    await old?.stop();
    await this.#startChild(instance);
  }

  #countServers(count: number): void {
    this.#options.telemetry?.tracer.record("gym.servers.active", count);
  }

  #ready(server: string): void {
    this.#watch.ready(server);
    const milliseconds = Date.now() - this.#startedAt;
    this.#emit({ type: "ready", server, url: this.#urlOf(server), milliseconds });
  }

  #urlOf(server: string): string {
    return this.#urls.get(server) ?? "";
  }

  #log(server: string): ServerLog {
    const known = this.#logs.get(server);
    if (known) return known;
    const log = new ServerLog({
      server,
      directory: this.#options.logDirectory,
      verbose: this.#options.globalConfig["verbose"] === true,
      onLine: (line, level) => this.#emit({ type: "log", server, line, level }),
      onFileError: (error) =>
        this.#emit({ type: "log", server, line: `its log file: ${error.message}`, level: "warn" }),
    });
    this.#logs.set(server, log);
    return log;
  }
}

function explainStart(error: unknown, instance: HostedInstance, log: ServerLog): Error {
  const message = errorMessage(error).replace(`Server '${instance.name}' could not start: `, "");
  if (message.includes("the port is in use")) return explainTaken(error, instance.port);
  return new ServerCrashError(instance.name, `could not start: ${message}`, log.recent);
}
