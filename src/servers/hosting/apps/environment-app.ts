import { Reply } from "../../calls/server-call.ts";
import { callServer, type ServerContext } from "../../calls/server-client.ts";
import type { EnvironmentServerDefinition } from "../../definitions/define-environment.ts";
import { type AppHost, classNameOf, type Handler, type RouteCall, ServerApp } from "../app.ts";
import { requireObject } from "../body.ts";

/** Headers of one connection, and those that are sent again by the next hop itself. */
const NOT_RELAYED = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Creates a running environment server from its definition. It has no sessions of its own. */
export function createEnvironmentApp(
  definition: EnvironmentServerDefinition,
  server: ServerContext<unknown>,
  host: AppHost,
): ServerApp {
  const { options } = definition;
  const context = server as ServerContext<never>;
  let state: unknown;
  const run: Handler = (call) =>
    options.run({
      config: context.config,
      server: context,
      signal: call.signal,
      body: requireObject(call.body),
      cookies: call.cookies,
      headers: relayed(call.headers),
      state,
    });
  const aggregate: Handler = async ({ body, signal }) => {
    const reply = await callServer(server.client, {
      server: options.metricsServer(context.config),
      path: "/aggregate_metrics",
      body: requireObject(body),
      stage: "run",
      signal,
      idempotent: true,
    });
    return new Reply(reply.payload());
  };
  return new ServerApp({
    name: server.name,
    type: "environment_servers",
    className: options.name ?? classNameOf(host.implementation),
    get: {},
    post: { "/run": run, "/aggregate_metrics": aggregate },
    withoutSessions: true,
    log: server.log,
    start: async () => {
      state = await options.start?.(context);
    },
  });
}

function relayed(headers: RouteCall["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === "string" && !NOT_RELAYED.has(name)) kept[name] = value;
  return kept;
}
