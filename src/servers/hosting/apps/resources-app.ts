import type { z } from "zod";
import { HttpError } from "../../../base/door.ts";
import { errorMessage, GymError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { redactKnown } from "../../../base/secrets.ts";
import { maskMembers, type ToolExceptions } from "../../../wire/light-door.ts";
import {
  type FunctionTool,
  materializeCreateParams,
  materializeResponse,
  parseCreateParams,
  parseResponse,
} from "../../../wire/schemas/door.ts";
import { ROLLOUT_START_HEADER } from "../../calls/rollout-id.ts";
import { Reply } from "../../calls/server-call.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import type {
  MetricsHooks,
  ResourcesServerDefinition,
  SessionScope,
} from "../../definitions/define-resources.ts";
import type { MaybePromise } from "../../definitions/definitions.ts";
import { type ResourcesSeed, resourcesClose, resourcesSeed } from "../../definitions/episodes/schemas.ts";
import { TypedSessions } from "../../definitions/episodes/typed-sessions.ts";
import { type JudgeDigests, judgeDigests } from "../../definitions/judge/judge-digests.ts";
import { takeJudgeTally } from "../../definitions/judge/judge-tally.ts";
import { LruCache } from "../../definitions/lru-cache.ts";
import { rewardOf } from "../../definitions/verified-reward.ts";
import { type AppHost, type AppParts, classNameOf, type Handler, type RouteCall, ServerApp } from "../app.ts";
import {
  missingFields,
  parseWith,
  requireBody,
  requireFields,
  requireObject,
  requireReplySize,
} from "../body.ts";
import { isException } from "../error-mapper.ts";
import { McpExposure } from "../mcp/mcp.ts";
import { type SessionStore, sessionsOf } from "../sessions.ts";
import { callableTools, checkRow, checkRowsHandler, offeredTools } from "./check-rows.ts";
import { resourcesNotes } from "./openapi.ts";

type Options = ResourcesServerDefinition["options"];
type Context = ServerContext<never>;

/** Limits the counts of sessions that end without a verification. */
const MAX_SESSIONS = 10_000;
const MAX_MESSAGE = 500;
const MAX_FAILURE_REASON = 2000;
/** What every verdict says about failures, unless the verifier says otherwise. */
const UNMASKED = { mask_sample: false, failure_kind: null, failure_reason: null };

/** Creates a running resources server from its definition. */
export function createResourcesApp(
  definition: ResourcesServerDefinition,
  server: ServerContext<unknown>,
  host: AppHost,
): ServerApp {
  const { options } = definition;
  const context = server as Context;
  const sessions = sessionsOf(server, options.closeSession);
  const state = new SessionState(options, context, sessions);
  const exceptions = new ToolExceptionCounter(server.name);
  const typed = new TypedSessions(options.session !== undefined || options.boundSessions === true);
  const post: Record<string, Handler> = {
    "/seed_session": seedHandler(options, state, typed),
    "/close_session": closeHandler(state, typed),
    "/verify": verifyHandler(options, state, server, exceptions, host.verifyInPool),
    "/aggregate_metrics": aggregateHandler(options.metrics, server.config),
    "/check_rows": checkRowsHandler((row) => checkRow(options, callableTools(options, server.config), row)),
  };
  for (const [name, tool] of Object.entries(options.tools ?? {})) {
    if (Object.hasOwn(post, `/${name}`)) {
      throw new GymError(
        "SERVER_DEFINITION",
        `Server '${server.name}' declares a tool '${name}', but POST /${name} is a route of every resources server. Give the tool another name.`,
      );
    }
    post[`/${name}`] = toolHandler(tool as NonNullable<Options["tools"]>[string], state, exceptions);
  }
  const parts: AppParts = {
    name: server.name,
    type: "resources_servers",
    className: options.name ?? `${classNameOf(host.implementation)}ResourcesServer`,
    get: { "/reverify_mode": () => options.reverifyMode ?? "unknown" },
    post,
    fallback: fallbackHandler(options, state, exceptions),
    notes: () => resourcesNotes(options),
    log: server.log,
    newSessionId: host.newSessionId,
    start: async () => {
      state.started = await options.start?.(context);
    },
    stop: async () => {
      // Sessions end before the state that they may use.
      await sessions.close();
      await options.stop?.(context, state.started);
    },
    close: () => sessions.close(),
  };
  if ((server.config as { expose_tools_over_mcp?: unknown } | null)?.expose_tools_over_mcp === true) {
    new McpExposure(parts, options, server, host.mcpSecret).install();
  }
  return new ServerApp(parts);
}

/** The session part of every handler's arguments. */
class SessionState {
  readonly #options: Options;
  readonly #context: Context;
  readonly sessions: SessionStore<unknown>;
  /** The value that `start` returned. */
  started: unknown;

  constructor(options: Options, context: Context, sessions: SessionStore<unknown>) {
    this.#options = options;
    this.#context = context;
    this.sessions = sessions;
  }

  async create(body: JsonObject, call: RouteCall): Promise<unknown> {
    const { session, seed, row, reseed } = this.#options;
    const seededRow = startsRollout(call)
      ? checkRow(this.#options, undefined, body)
      : session && parseWith(seed ?? row, body, ["body"]);
    if (!session) return undefined;
    const { sessionId } = call;
    if (reseed === "keep" && this.sessions.has(sessionId)) return this.sessions.get(sessionId);
    const value = await session({ ...this.scopeOf(call, undefined), row: seededRow });
    this.sessions.set(sessionId, value);
    return value;
  }

  /** The scope of a call. `unseeded`, or the row, creates the state of a session that was not seeded. */
  async scope(call: RouteCall, row?: JsonObject): Promise<SessionScope<never, never, never>> {
    const { sessionId } = call;
    let session = this.sessions.get(sessionId);
    if (session === undefined && this.#options.session && !this.sessions.has(sessionId)) {
      this.sessions.requireKept(sessionId);
      if (this.#options.unseeded) {
        session = await this.#options.unseeded(this.scopeOf(call, undefined));
        this.sessions.set(sessionId, session);
      } else if (row) {
        session = await this.create(row, call);
      } else {
        throw new HttpError(409, "This session has no state: call /seed_session first and keep its cookie.");
      }
    }
    return this.scopeOf(call, session);
  }

  /** The arguments of a handler. */
  scopeOf({ sessionId, signal }: RouteCall, session: unknown): SessionScope<never, never, never> {
    return {
      session: session as never,
      sessionId,
      signal,
      state: this.started as never,
      config: this.#context.config,
      server: this.#context,
    };
  }
}

function closeHandler(state: SessionState, typed: TypedSessions): Handler {
  return (call) => {
    const close = parseWith(resourcesClose, requireBody(call.body), ["body"]) as ResourcesSeed;
    typed.close(close);
    state.sessions.delete(call.sessionId);
    return { resources_session_id: close.resources_session_id };
  };
}

function seedHandler(options: Options, state: SessionState, typed: TypedSessions): Handler {
  // Computed on first use, because a server may load its tools in `start`.
  let tools: FunctionTool[] | undefined;
  return async (call) => {
    const body = requireObject(call.body);
    const { data: seed } = resourcesSeed.safeParse(body);
    if (seed) {
      typed.open(seed);
      await state.create(seed.task_data, call);
      return {
        resources_session_id: seed.resources_session_id,
        resources_tools: null,
        sandbox_access: null,
      };
    }
    const scope = state.scopeOf(call, await state.create(body, call));
    const reply = await options.seedReply?.({ ...scope, body });
    // The agent offers them to the model. A row with a list of tools keeps it, even if the list is empty.
    const params = body["responses_create_params"] as { tools?: unknown } | null | undefined;
    if (!startsRollout(call) || params?.tools !== undefined) return reply ?? {};
    tools ??= offeredTools(options, scope.config);
    return tools.length > 0 ? { tools, ...reply } : (reply ?? {});
  };
}

/** Other callers of `/seed_session` get the reply of the Python original. */
function startsRollout({ headers }: RouteCall): boolean {
  return headers[ROLLOUT_START_HEADER] !== undefined;
}

function toolHandler(
  tool: { input?: z.ZodType; run: (args: never) => unknown },
  state: SessionState,
  exceptions: ToolExceptionCounter,
): Handler {
  const { input: schema } = tool;
  return async (call) => {
    const input = schema ? parseWith(schema, requireBody(call.body), ["body"]) : (call.body ?? {});
    const scope = await state.scope(call);
    return runCountingExceptions(exceptions, call, () => tool.run(Object.assign(scope, { input }) as never));
  };
}

/**
 * Counts the exceptions of tools by session. The model reads an exception as the result of its call and the rollout is
 * scored, so without a count a broken tool would not be noticed.
 */
class ToolExceptionCounter {
  readonly #server: string;
  readonly #bySession = new LruCache<ToolExceptions>(MAX_SESSIONS);

  constructor(server: string) {
    this.#server = server;
  }

  add(sessionId: string, error: unknown): void {
    const known = this.#bySession.get(sessionId);
    if (known) {
      known.count++;
      return;
    }
    const message = redactKnown(String(error)).slice(0, MAX_MESSAGE);
    this.#bySession.set(sessionId, { server: this.#server, count: 1, message });
  }

  /** Returns the counts of a session and removes them; undefined if no tool threw. */
  take(sessionId: string): ToolExceptions | undefined {
    const counted = this.#bySession.get(sessionId);
    this.#bySession.delete(sessionId);
    return counted;
  }
}

/** Runs a tool, and counts its exceptions. */
async function runCountingExceptions(
  exceptions: ToolExceptionCounter,
  { sessionId, signal, path }: RouteCall,
  run: () => unknown,
): Promise<Reply> {
  try {
    return toJsonReply(await run(), path);
  } catch (error) {
    if (isException(error, signal)) exceptions.add(sessionId, error);
    throw error;
  }
}

/**
 * Serializes the result of a tool as JSON, because the model reads text. A result that is not JSON is an error of the
 * tool.
 */
function toJsonReply(result: unknown, path: string): Reply {
  if (result instanceof Reply) return result;
  let raw: string;
  try {
    raw = JSON.stringify(result) ?? "null";
  } catch (error) {
    throw new TypeError(`the result of ${path} is not JSON: ${errorMessage(error)}`, { cause: error });
  }
  requireReplySize(raw, path);
  return new Reply({ raw });
}

function fallbackHandler(
  options: Options,
  state: SessionState,
  exceptions: ToolExceptionCounter,
): Handler | undefined {
  const { fallbackTool } = options;
  if (!fallbackTool) return undefined;
  return async (call) => {
    const scope = await state.scope(call);
    const name = decodeName(call.path.slice(1));
    const args = Object.assign(scope, { name, input: call.body ?? {} });
    return runCountingExceptions(exceptions, call, () => fallbackTool.run(args));
  };
}

function decodeName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function verifyHandler(
  options: Options,
  state: SessionState,
  server: ServerContext<unknown>,
  exceptions: ToolExceptionCounter,
  verifyInPool: AppHost["verifyInPool"],
): Handler {
  let identity: Promise<JudgeDigests | undefined> | undefined;
  const echoed = options.echo as readonly string[] | undefined;
  return async (call) => {
    const body = requireObject(call.body);
    requireFields(body, "responses_create_params", "response");
    const params = parseCreateParams(body["responses_create_params"], ["body", "responses_create_params"]);
    const response = parseResponse(body["response"], ["body", "response"]);
    const row = parseWith(options.row, body, ["body"]) as JsonObject;
    const seeded = state.sessions.has(call.sessionId);
    const scope = await state.scope(call, body);
    try {
      const given = { row, response, params, body, seeded };
      const result = await (options.verifyIn === "pool" && verifyInPool
        ? verifyInPool({ ...given, session: scope.session, sessionId: call.sessionId }, call.signal)
        : (options.verify(Object.assign(scope, given)) as MaybePromise<JsonObject>));
      const reward = rewardOf(result, server);
      const judged = takeJudgeTally(call.signal);
      if (judged) identity ??= judgeDigests(server);
      const raised = exceptions.take(call.sessionId);
      state.sessions.release(call.sessionId);
      return {
        ...echo(row, echoed, options.row !== undefined),
        responses_create_params: materializeCreateParams(params),
        response: materializeResponse(response),
        ...UNMASKED,
        ...result,
        ...(result?.["mask_sample"] === true && maskMembers(result)),
        ...(judged && { _ng_judge: { ...judged, ...(await identity) } }),
        ...(raised && { _ng_tool_exceptions: raised }),
        reward,
      };
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== "JUDGE_FAILED") throw error;
      const message = `${(error as Error).name}: ${errorMessage(error)}`;
      return {
        ...body,
        // With the defaults of the row schema, as in a result.
        ...(options.row && row),
        responses_create_params: materializeCreateParams(params),
        response: materializeResponse(response),
        reward: 0,
        ...maskMembers(body),
        failure_kind: "judge_failed",
        failure_reason: message.slice(0, MAX_FAILURE_REASON),
        _ng_failure_class: "judge_failed",
        _ng_failure_judge_error: message,
      };
    }
  };
}

function echo(row: JsonObject, fields: readonly string[] | undefined, declared: boolean): JsonObject {
  if (!declared) return {};
  if (!fields) {
    const { response: _response, responses_create_params: _params, ...rest } = row;
    return rest;
  }
  const kept: JsonObject = {};
  for (const field of fields) if (row[field] !== undefined) kept[field] = row[field];
  return kept;
}

/** `POST /aggregate_metrics`, shared by all kinds of resources servers. */
export function aggregateHandler(
  metrics: MetricsHooks | ((config: never) => MetricsHooks) | undefined,
  config: unknown,
): Handler {
  const hooks = typeof metrics === "function" ? metrics(config as never) : metrics;
  return async (call) => {
    const rows = requireObject(call.body)["verify_responses"];
    if (!Array.isArray(rows)) throw missingFields(["verify_responses"], call.body);
    // Loaded on demand, because a run calls this once, at its end.
    const { aggregateMetrics } = await import("../../../records/metrics/door.ts");
    return aggregateMetrics(rows as JsonObject[], { computeMetrics: hooks?.compute, keyMetrics: hooks?.key });
  };
}
