import { HttpError } from "../../../base/door.ts";
import { errorMessage, GymError } from "../../../base/errors.ts";
import { isObject } from "../../../base/python/json/door.ts";
import { traced } from "../../../base/telemetry/light-door.ts";
import { parseCreateParams, type ResponseCreateParams } from "../../../wire/schemas/door.ts";
import {
  type NamespaceMap,
  parseSanitizedParams,
  sanitizeStreamingResponses,
} from "../../../wire/stream/door.ts";
import type { Cookies } from "../../calls/cookies.ts";
import { Reply } from "../../calls/server-call.ts";
import { callServer, type ServerContext } from "../../calls/server-client.ts";
import type { AgentDefinition, AgentReply, RolloutScope } from "../../definitions/define-agent.ts";
import { type AgentSession, AgentSessions } from "../../definitions/episodes/agent-sessions.ts";
import {
  type AgentSeed,
  agentClose,
  agentSeed,
  type ToolAccess,
} from "../../definitions/episodes/schemas.ts";
import { directHttpSession } from "../../definitions/episodes/tool-grant.ts";
import { type StandardRunConfig, standardRun } from "../../definitions/standard-run.ts";
import { type AppHost, classNameOf, type Handler, type RouteCall, ServerApp } from "../app.ts";
import { parseWith, requireBody, requireFields, requireObject } from "../body.ts";
import { attributionOf, rolloutScopeOfPath, rolloutScopeOfRow } from "../rollout-attribution.ts";
import { streamRun } from "./agent-stream.ts";
import { responseOfHandler } from "./handler-response.ts";
import { agentNotes } from "./openapi.ts";

/** Start of the session id in the cookie of an agent session. Other requests have a random id. */
const SESSION_MARK = "agent_session_id:";

function sessionOf({ sessionId }: RouteCall): string | undefined {
  return sessionId.startsWith(SESSION_MARK) ? sessionId.slice(SESSION_MARK.length) : undefined;
}

const EMPTY_METRICS = { group_level_metrics: [], agent_metrics: {}, key_metrics: {} };

/** The parsed request, with `namespaces` if the answer is to be streamed. */
function readParams(body: unknown): { params: ResponseCreateParams; namespaces?: NamespaceMap } {
  if (!isObject(body) || body["stream"] !== true) return { params: parseCreateParams(body, ["body"]) };
  const { request, namespaces } = sanitizeStreamingResponses(body);
  return { params: parseSanitizedParams(request, ["body"]), namespaces };
}

/** Creates a running agent server from its definition. */
export function createAgentApp(
  definition: AgentDefinition,
  server: ServerContext<unknown>,
  host: AppHost,
): ServerApp {
  const { options } = definition;
  const context = server as ServerContext<never>;
  const config = server.config as Partial<StandardRunConfig> & {
    session_close_retry_window_seconds?: number;
    tool_accesses?: readonly ToolAccess[];
    num_workers?: number;
  };
  const attribution = attributionOf(server);
  let state: unknown;
  const sessions = new AgentSessions({
    retrySeconds: config.session_close_retry_window_seconds,
    accessesOf: (seed) => {
      if (!options.session) throw new HttpError(501, "This agent has no sessions.");
      if (Number(config.num_workers ?? 1) !== 1)
        throw new GymError("AGENT_SESSION", "Sessions need an agent with one worker (num_workers: 1).");
      return options.session === "direct_http"
        ? directHttpSession(config.tool_accesses ?? [], seed)
        : options.session({ config: context.config, seed });
    },
  });
  const seedAgent: Handler = (call) => {
    const seed = parseWith(agentSeed, requireBody(call.body), ["body"]) as AgentSeed;
    const { id } = sessions.seed(seed, sessionOf(call));
    return new Reply({ body: { agent_session_id: id }, sessionId: SESSION_MARK + id });
  };
  const closeAgent: Handler = (call) => {
    const { agent_session_id: id, episode_id } = parseWith(agentClose, requireBody(call.body), [
      "body",
    ]) as AgentSeed;
    return sessions.close(id, episode_id, sessionOf(call));
  };

  const scopeOf = (signal: AbortSignal) => ({ config: context.config, server: context, signal, state });
  const respond = (
    params: ResponseCreateParams,
    signal: AbortSignal,
    cookies: Cookies,
    rollout: RolloutScope,
    session?: AgentSession,
  ): Promise<AgentReply> => {
    const attributes = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": server.name };
    return traced(
      "agent",
      "gym.agent.responses",
      async () => {
        const reply = await options.responses({ ...scopeOf(signal), params, rollout, cookies, session });
        if (!Array.isArray(reply?.response?.output))
          throw new TypeError("the handler 'responses' did not return { response, cookies } with a Response");
        return reply;
      },
      { attributes },
    );
  };

  const responses: Handler = async (call) => {
    const { params, namespaces } = readParams(requireBody(call.body));
    const rollout = rolloutScopeOfPath(call);
    if (namespaces)
      return streamRun({
        params,
        namespaces,
        cookies: call.cookies,
        server: server.name,
        respond: (onOutput) => respond(params, call.signal, call.cookies, { ...rollout, onOutput }),
        onFailure: (error) => server.log.error(`a streamed run failed: ${errorMessage(error)}`),
      });
    const session = sessions.of(sessionOf(call));
    const { response, cookies } = await respond(params, call.signal, call.cookies, rollout, session);
    return new Reply({ body: responseOfHandler(response), cookies });
  };

  const run: Handler = (call) => {
    const row = requireObject(call.body);
    requireFields(row, "responses_create_params");
    const params = parseCreateParams(row["responses_create_params"], ["body", "responses_create_params"]);
    const { signal, cookies } = call;
    const rollout = rolloutScopeOfRow(row, attribution, call.onStage);
    const args = {
      ...scopeOf(signal),
      cookies,
      row,
      params,
      rollout,
      respond: (own: ResponseCreateParams, ownCookies: Cookies, ownSignal: AbortSignal = signal) =>
        respond(own, ownSignal, ownCookies, rollout),
    };
    return options.run ? options.run(args) : standardRun(args);
  };

  const aggregate: Handler = async (call) => {
    const body = requireObject(call.body);
    const { signal } = call;
    if (options.aggregateMetrics) return options.aggregateMetrics({ ...scopeOf(signal), body });
    if (config.skip_verification) {
      server.log.warn("verification is skipped: there are no metrics to aggregate");
      return EMPTY_METRICS;
    }
    if (options.metrics) {
      const { aggregateHandler } = await import("./resources-app.ts");
      return aggregateHandler(options.metrics, config)(call);
    }
    const resources = config.resources_server?.name;
    if (resources === undefined) return EMPTY_METRICS;
    const reply = await callServer(server.client, {
      server: resources,
      path: "/aggregate_metrics",
      body,
      stage: "run",
      signal,
      idempotent: true,
    });
    return new Reply(reply.payload());
  };

  /** Only the resources server knows the required fields of its rows. */
  const checkRows: Handler = async (call) => {
    const resources = config.resources_server?.name;
    if (resources === undefined) throw new HttpError(404, "This agent has no resources server.");
    const reply = await server.client.post(resources, "/check_rows", requireBody(call.body), {
      signal: call.signal,
      idempotent: true,
    });
    return new Reply({ status: reply.status, ...reply.payload() });
  };

  return new ServerApp({
    name: server.name,
    type: "responses_api_agents",
    className: options.name ?? classNameOf(host.implementation),
    get: {},
    post: {
      "/v1/responses": responses,
      "/v1/agent_sessions": seedAgent,
      "/v1/agent_sessions/close": closeAgent,
      "/run": run,
      "/aggregate_metrics": aggregate,
      "/check_rows": checkRows,
    },
    notes: agentNotes,
    log: server.log,
    newSessionId: host.newSessionId,
    start: async () => {
      state = await options.start?.(context);
    },
    stop: () => options.stop?.(context, state as never),
  });
}
