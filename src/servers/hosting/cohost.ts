import { STATUS_CODES } from "node:http";
import type { Logger } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import type { Telemetry } from "../../base/telemetry/door.ts";
import { Links } from "../calls/link/links.ts";
import { RunClient } from "../calls/run-client.ts";
import type { ServerDefinition, ServerType } from "../definitions/definitions.ts";
import type { AppHost, RequestHandler, ServerApp } from "./app.ts";
import { createApp } from "./apps/create-app.ts";
import { authorTrace, guardExit, type HostedCode, hostedCode } from "./guards/hosted-code.ts";
import type { LoopMonitor } from "./guards/loop-monitor.ts";
import { profileDirectory, ServerProfiles } from "./guards/profiler.ts";
import type { Watchdog } from "./guards/watchdog.ts";
import { allowedHostsOf, withHostSettings } from "./host-settings.ts";
import { HttpEdge } from "./http-edge.ts";
import { LinkEdge } from "./link-edge.ts";
import { loadDefinition } from "./load-definition.ts";
import type { ServerCode } from "./locate-server.ts";
import { traceRequests } from "./tracing/trace-requests.ts";
import { VerifyPool } from "./verify-pool.ts";

/** One instance and the location of its code. */
export interface HostedInstance {
  name: string;
  type: ServerType;
  implementation: string;
  host: string;
  port: number;
  config: Record<string, unknown>;
  code: ServerCode;
  /** Supplied by the program that starts the servers: there is no file to load, so the server runs in that process. */
  definition?: ServerDefinition;
}

export interface CoHostOptions {
  instances: readonly HostedInstance[];
  /** `http://host:port` of every server of the run, including servers in other processes. */
  addresses: ReadonlyMap<string, string>;
  globalConfig: Readonly<Record<string, unknown>>;
  installRoot: string;
  findFile: (path: string) => string;
  logger: (server: string) => Logger;
  telemetry?: Telemetry;
  monitor?: LoopMonitor;
  watchdog?: Watchdog;
  /** Suffix of profile names, if several processes run one server. */
  profileSuffix?: string;
  /** Workers of one server create session ids that identify the worker. */
  newSessionId?: () => string;
  /** Workers of one server sign MCP tokens with the same secret. */
  mcpSecret?: string;
  /** Wraps the handling of requests; a worker forwards those of sessions it does not own. */
  intercept?: (app: ServerApp, handler: RequestHandler) => RequestHandler;
  listen?: boolean;
  /** Called when a server has started. */
  onStarted?: (server: string) => void;
  /** The socket of this process, and those of the other processes by server. */
  link?: { socketPath?: string; sockets: ReadonlyMap<string, string> };
}

/** Several servers in this process: each on its own port, calling each other directly. */
export class CoHost {
  readonly apps = new Map<string, ServerApp>();
  readonly client: RunClient;
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #edges: HttpEdge[] = [];
  readonly #pool = new VerifyPool();
  readonly #allowExit: () => void;
  readonly #options: CoHostOptions;
  readonly #closing = new AbortController();
  #starting: Promise<void> | undefined;
  #profiles: ServerProfiles | undefined;
  #link: LinkEdge | undefined;

  constructor(options: CoHostOptions) {
    this.#options = options;
    const { addresses, link } = options;
    const links = link && new Links(link.sockets);
    this.client = new RunClient({ addresses, local: this.#handlers, links });
    this.#allowExit = guardExit(hostedCodeOf(options));
  }

  /** Loads and starts the servers. Whether it succeeds or fails, `close` frees what it has opened. */
  start(): Promise<void> {
    this.#starting ??= this.#start(this.#options, this.#closing.signal);
    return this.#starting;
  }

  async #start(options: CoHostOptions, closing: AbortSignal): Promise<void> {
    const { instances, globalConfig, installRoot, logger, link } = options;
    for (const instance of instances) {
      closing.throwIfAborted();
      const app = await createHostedApp(instance, options, this.client, this.#pool);
      this.apps.set(instance.name, app);
      this.#handlers.set(instance.name, decorated(app, instance.implementation, options));
    }
    closing.throwIfAborted();
    const directory = profileDirectory(globalConfig, installRoot);
    if (directory !== undefined)
      this.#profiles = new ServerProfiles(this.apps, directory, options.profileSuffix ?? "", logger);
    await Promise.all(
      [...this.apps.values()].map(async (app) => {
        await startApp(app);
        options.onStarted?.(app.name);
      }),
    );
    if (options.listen === false) return;
    const allowedHosts = allowedHostsOf(globalConfig);
    for (const instance of instances) {
      closing.throwIfAborted();
      const handler = this.#handlers.get(instance.name);
      if (handler) this.#edges.push(await listen(handler, instance, allowedHosts));
    }
    if (link?.socketPath && this.apps.size > 0)
      this.#link = await LinkEdge.listen(this.#handlers, link.socketPath);
  }

  /**
   * Stops accepting requests, then ends sessions and frees the resources of the servers. Cancels a start in progress,
   * and waits for the code of servers that is still starting.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#starting?.catch(() => {});
    await Promise.allSettled(this.#edges.map((edge) => edge.close()));
    this.#link?.close();
    await Promise.allSettled([...this.apps.values()].map((app) => app.close()));
    await Promise.allSettled([this.client.close(), this.#pool.close(), this.#profiles?.close()]);
    this.#allowExit();
  }
}

/** The code that runs in this process, by server. */
export function hostedCodeOf({
  instances,
  installRoot,
}: Pick<CoHostOptions, "instances" | "installRoot">): HostedCode[] {
  return instances
    .filter(({ definition }) => definition === undefined)
    .map(({ name, code }) => hostedCode(name, code.directory, installRoot));
}

async function createHostedApp(
  instance: HostedInstance,
  options: CoHostOptions,
  client: RunClient,
  pool: VerifyPool,
): Promise<ServerApp> {
  const { name, implementation, config, code } = instance;
  const { installRoot, globalConfig, findFile, newSessionId, mcpSecret } = options;
  const definition = instance.definition ?? (await loadDefinition(code.entry, installRoot));
  const { directory, entry } = code;
  const verifyInPool: AppHost["verifyInPool"] = (args, signal) =>
    pool.verify({ code: hostedCode(name, directory, installRoot), entry, installRoot, config, args }, signal);
  return createApp(
    definition,
    { name, directory, globalConfig, client, log: options.logger(name), findFile },
    config,
    {
      implementation,
      // A worker loads the file of the server, so a definition without one is verified in this process.
      verifyInPool: instance.definition ? undefined : verifyInPool,
      serverTypes: new Map(options.instances.map((each) => [each.name, each.type])),
      newSessionId,
      mcpSecret,
    },
  );
}

/** The app with its decorators. Callers in this process pass through them too. */
function decorated(app: ServerApp, implementation: string, options: CoHostOptions): RequestHandler {
  const { monitor, watchdog, globalConfig, logger, intercept, telemetry } = options;
  let handler: RequestHandler = app;
  if (monitor) handler = watchLoop(handler, monitor, watchdog);
  if (globalConfig["uvicorn_logging_show_200_ok"] === true) handler = logAccess(handler, logger(app.name));
  if (telemetry) handler = traceRequests(handler, { app, implementation, tracer: telemetry.tracerOf(app) });
  return intercept ? intercept(app, handler) : handler;
}

/** The same handler with a different `handle`. */
function wrapped(inner: RequestHandler, handle: RequestHandler["handle"]): RequestHandler {
  return { name: inner.name, handle, unwritable: (call, error) => inner.unwritable(call, error) };
}

/** Adds the name of the server and the location in its code to a start error. */
async function startApp(app: ServerApp): Promise<void> {
  try {
    await app.start();
  } catch (error) {
    if (error instanceof GymError) throw error;
    throw new GymError("SERVER_START", `Server '${app.name}' could not start: ${authorTrace(error)}`, {
      cause: error,
    });
  }
}

function logAccess(inner: RequestHandler, log: Logger): RequestHandler {
  return wrapped(inner, async (call) => {
    const reply = await inner.handle(call);
    log.info(`"${call.method} ${call.path}" ${reply.status} ${STATUS_CODES[reply.status] ?? ""}`.trimEnd());
    return reply;
  });
}

/** Measures how long each handler holds the event loop, so that lag can be attributed to a server. */
function watchLoop(
  inner: RequestHandler,
  monitor: LoopMonitor,
  watchdog: Watchdog | undefined,
): RequestHandler {
  const number = watchdog?.numberOf(inner.name) ?? 0;
  const onRest = watchdog && (() => watchdog.leave());
  return wrapped(inner, (call) => {
    watchdog?.enter(number);
    monitor.began(inner.name, call.path, onRest);
    return inner.handle(call);
  });
}

function listen(
  handler: RequestHandler,
  instance: HostedInstance,
  allowedHosts: readonly string[],
): Promise<HttpEdge> {
  const { host, port, config } = instance;
  const { max_body_mb: limit } = withHostSettings(instance, config) as { max_body_mb?: number | null };
  return HttpEdge.listen(handler, { host, port, allowedHosts, bodyLimitBytes: limit && limit * 1024 * 1024 });
}
