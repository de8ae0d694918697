import { STATUS_CODES } from "node:http";
import { Links } from "../calls/link/links.ts";
import { RunClient } from "../calls/run-client.ts";
import type { ServerDefinition, ServerType } from "../definitions/definitions.ts";
import { errorMessage, GymError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { RequestHandler, ServerApp } from "./app.ts";
import { createApp } from "./apps/create-app.ts";
import { guardExit } from "./guards/exit-guard.ts";
import { authorTrace, type HostedCode, hostedCode } from "./guards/hosted-code.ts";
import type { LoopMonitor } from "./guards/loop-monitor.ts";
import { profileDirectory, ServerProfiles } from "./guards/profiler.ts";
import type { Watchdog } from "./guards/watchdog.ts";
import { allowedHostsOf, withHostSettings } from "./host-settings.ts";
import { HttpEdge } from "./http-edge.ts";
import { LinkEdge } from "./link-edge.ts";
import { loadDefinition } from "./load-definition.ts";
import type { ServerCode } from "./locate-server.ts";
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
  readonly apps: ReadonlyMap<string, ServerApp>;
  readonly client: RunClient;
  readonly #edges: HttpEdge[];
  readonly #pool: VerifyPool;
  readonly #allowExit: () => void;
  #profiles: ServerProfiles | undefined;
  #link: LinkEdge | undefined;

  private constructor(
    apps: ReadonlyMap<string, ServerApp>,
    client: RunClient,
    edges: HttpEdge[],
    pool: VerifyPool,
    allowExit: () => void,
  ) {
    this.apps = apps;
    this.client = client;
    this.#edges = edges;
    this.#pool = pool;
    this.#allowExit = allowExit;
  }

  static async start(options: CoHostOptions): Promise<CoHost> {
    const apps = new Map<string, ServerApp>();
    const handlers = new Map<string, RequestHandler>();
    const { addresses, link } = options;
    const client = new RunClient({
      addresses,
      local: handlers,
      ...(link && { links: new Links(link.sockets) }),
    });
    const pool = new VerifyPool();
    const edges: HttpEdge[] = [];
    const host = new CoHost(apps, client, edges, pool, guardExit(codeOf(options)));
    try {
      for (const instance of options.instances) {
        const app = await createHostedApp(instance, options, client, pool);
        apps.set(instance.name, app);
        handlers.set(instance.name, decorated(app, options));
      }
      const directory = profileDirectory(options.globalConfig, options.installRoot);
      if (directory !== undefined)
        host.#profiles = new ServerProfiles(apps, {
          directory,
          suffix: options.profileSuffix ?? "",
          onFile: (server, file) => options.logger(server).info(`its profile goes to ${file}`),
          onError: (server, error) =>
            options.logger(server).error(`its profile was not written: ${errorMessage(error)}`),
        });
      await Promise.all(
        [...apps.values()].map(async (app) => {
          await startApp(app);
          options.onStarted?.(app.name);
        }),
      );
      if (options.listen !== false) {
        const allowedHosts = allowedHostsOf(options.globalConfig);
        for (const instance of options.instances) {
          const handler = handlers.get(instance.name);
          if (handler) edges.push(await listen(handler, instance, allowedHosts));
        }
        if (link?.socketPath && apps.size > 0) host.#link = await LinkEdge.listen(handlers, link.socketPath);
      }
      return host;
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  /** Stops accepting requests, then ends sessions and frees the resources of the servers. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#edges.map((edge) => edge.close()));
    this.#link?.close();
    await Promise.allSettled([...this.apps.values()].map((app) => app.close()));
    await Promise.allSettled([this.client.close(), this.#pool.close(), this.#profiles?.close()]);
    this.#allowExit();
  }
}

/** The code that runs in this process, by server. */
export function codeOf({
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
  const definition = instance.definition ?? (await loadDefinition(instance.code.entry, options.installRoot));
  const log = options.logger(instance.name);
  return createApp(
    definition,
    {
      name: instance.name,
      directory: instance.code.directory,
      globalConfig: options.globalConfig,
      client,
      log,
      findFile: options.findFile,
    },
    instance.config,
    {
      implementation: instance.implementation,
      // A worker loads the file of the server, so a definition without one is verified in this process.
      ...(instance.definition === undefined && {
        verifyInPool: (args, signal) =>
          pool.verify(
            {
              code: hostedCode(instance.name, instance.code.directory, options.installRoot),
              entry: instance.code.entry,
              installRoot: options.installRoot,
              config: instance.config,
              args,
            },
            signal,
          ),
      }),
      serverTypes: new Map(options.instances.map(({ name, type }) => [name, type])),
      ...(options.newSessionId && { newSessionId: options.newSessionId }),
      ...(options.mcpSecret !== undefined && { mcpSecret: options.mcpSecret }),
    },
  );
}

/** The app with its decorators. Callers in this process pass through them too. */
function decorated(app: ServerApp, options: CoHostOptions): RequestHandler {
  const { monitor, watchdog, globalConfig, logger, intercept } = options;
  let handler: RequestHandler = app;
  if (monitor) handler = watchLoop(handler, monitor, watchdog);
  if (globalConfig["uvicorn_logging_show_200_ok"] === true) handler = logAccess(handler, logger(app.name));
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
  const { max_body_mb: limit } = withHostSettings(instance, instance.config);
  return HttpEdge.listen(handler, {
    host: instance.host,
    port: instance.port,
    allowedHosts,
    ...(typeof limit === "number" && { bodyLimitBytes: limit * 1024 * 1024 }),
    ...(limit === null && { bodyLimitBytes: null }),
  });
}
