import { HttpError } from "../../../base/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { parseCreateParams, parseResponse } from "../../../wire/schemas/door.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import type { GymnasiumServerDefinition } from "../../definitions/define-resources.ts";
import { stepRewardOf } from "../../definitions/verified-reward.ts";
import { type AppHost, classNameOf, type Handler, type RouteCall, ServerApp } from "../app.ts";
import { parseWith, requireFields, requireObject } from "../body.ts";
import { mcpRejection } from "../mcp/mcp.ts";
import { sessionsOf } from "../sessions.ts";
import { checkRowsHandler } from "./check-rows.ts";
import { gymnasiumNotes } from "./openapi.ts";
import { aggregateHandler } from "./resources-app.ts";

/** Creates a running multi-turn environment (`/reset`, `/step`, `/close`) from its definition. */
export function createGymnasiumApp(
  definition: GymnasiumServerDefinition,
  server: ServerContext<unknown>,
  host: AppHost,
): ServerApp {
  const { options } = definition;
  const context = server as ServerContext<never>;
  if ((server.config as { expose_tools_over_mcp?: unknown } | null)?.expose_tools_over_mcp === true) {
    throw mcpRejection(server.name, "/mcp", "the server has no /seed_session and no /verify");
  }
  const sessions = sessionsOf(server, options.closeSession);
  const rowOf = (body: JsonObject): unknown => {
    const { responses_create_params: params, response: _response, ...row } = body;
    parseCreateParams(params, ["body", "responses_create_params"]);
    return parseWith(options.row, row, ["body"]);
  };
  let state: unknown;
  const scope = ({ sessionId, signal }: RouteCall) => ({
    sessionId,
    signal,
    state,
    config: context.config,
    server: context,
  });

  const reset: Handler = async (call) => {
    const body = requireObject(call.body);
    requireFields(body, "responses_create_params");
    const { session, observation, info } = await options.reset({ ...scope(call), row: rowOf(body), body });
    sessions.set(call.sessionId, session);
    return { observation: observation ?? null, info: info ?? {} };
  };

  const step: Handler = async (call) => {
    const body = requireObject(call.body);
    requireFields(body, "responses_create_params", "response");
    const response = parseResponse(body["response"], ["body", "response"]);
    const row = rowOf(body);
    let session = sessions.get(call.sessionId);
    if (session === undefined && !sessions.has(call.sessionId)) {
      sessions.requireKept(call.sessionId);
      if (!options.unseeded)
        throw new HttpError(409, "This session has no episode: call /reset first and keep its cookie.");
      session = await options.unseeded(scope(call));
      sessions.set(call.sessionId, session);
    }
    const reply = await options.step({ ...scope(call), session, row, body, response });
    const reward = stepRewardOf(reply.reward, server);
    if ((reply.terminated || reply.truncated) && !options.keepFinished) sessions.delete(call.sessionId);
    return {
      observation: reply.observation ?? null,
      reward,
      terminated: reply.terminated ?? false,
      truncated: reply.truncated ?? false,
      info: reply.info ?? {},
    };
  };

  return new ServerApp({
    name: server.name,
    type: "resources_servers",
    className: options.name ?? `${classNameOf(host.implementation)}ResourcesServer`,
    get: {},
    post: {
      "/reset": reset,
      "/step": step,
      ...(options.closeSession && {
        "/close": ({ sessionId }: RouteCall) => {
          sessions.delete(sessionId);
          return {};
        },
      }),
      "/aggregate_metrics": aggregateHandler(options.metrics, server.config),
      "/check_rows": checkRowsHandler((row) => {
        rowOf(row);
        parseWith(options.seed, row, ["body"]);
      }),
    },
    notes: () => gymnasiumNotes(options),
    log: server.log,
    newSessionId: host.newSessionId,
    start: async () => {
      state = await options.start?.(context);
    },
    stop: async () => {
      // Sessions end before the state that they may use.
      await sessions.close();
      await options.stop?.(context, state);
    },
    close: () => sessions.close(),
  });
}
