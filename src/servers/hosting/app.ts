import { randomUUID } from "node:crypto";
import { HttpError, type Logger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { type ErrorDetail, ValidationError } from "../../wire/schemas/door.ts";
import { type Cookies, NO_COOKIES } from "../calls/cookies.ts";
import { splitRolloutPrefix } from "../calls/rollout-id.ts";
import { type AppCall, Reply } from "../calls/server-call.ts";
import type { StageListener } from "../calls/server-client.ts";
import type { MaybePromise, ServerType } from "../definitions/definitions.ts";
import type { RouteNote } from "./apps/openapi.ts";
import { isTooDeep, MAX_NESTING, MalformedBody } from "./body.ts";
import { mapError } from "./error-mapper.ts";
import { PROBE_PATHS } from "./probes.ts";
import { type RolloutContext, rolloutOfRequest } from "./rollout-attribution.ts";
import { SessionCookie } from "./session-cookie.ts";

export type Method = "GET" | "POST";

/** Handles the requests to one server. Hosts wrap it to log, to monitor the event loop or to forward. */
export interface RequestHandler {
  readonly name: string;
  /** Never throws: every error becomes a status and a body. */
  handle(call: AppCall): Promise<Reply>;
  /**
   * The reply that replaces one that cannot be serialized: it is not JSON, or it repeats a body that is nested too
   * deeply.
   */
  unwritable(call: AppCall, error: unknown): Reply;
}

/** The request as a route handler receives it. */
export interface RouteCall {
  /** The last part of the route for the fallback, the whole path otherwise. */
  path: string;
  query?: string;
  body: unknown;
  cookies: Cookies;
  headers: AppCall["headers"];
  signal: AbortSignal;
  sessionId: string;
  /** Set when the path has the prefix `/ng-rollout/<id>`. */
  rolloutId: string | undefined;
  /** Whether the path requests training-token capture. */
  tokenCapture: boolean;
  /** Id of the call in recordings; set by model servers that record. */
  modelCallId?: string;
  onStage: StageListener | undefined;
}

export type Handler = (call: RouteCall) => MaybePromise<unknown>;

export interface AppParts {
  name: string;
  type: ServerType;
  /** Class-like name that precedes the instance name in the cookie. */
  className: string;
  get: Readonly<Record<string, Handler>>;
  post: Readonly<Record<string, Handler>>;
  /** Answers a `POST` to any other single-segment path. */
  fallback?: Handler;
  /** Paths of `post` that also handle all paths below them. */
  mounts?: readonly string[];
  /** Descriptions of routes for `/openapi.json` and `/docs`. */
  notes?: () => Readonly<Record<string, RouteNote>>;
  log: Logger;
  /** Routes whose handlers accept a `MalformedBody`. */
  /** Whether the server sets no session cookie. */
  withoutSessions?: boolean;
  takesMalformed?: (path: string) => boolean;
  /** Returns the session of a request that names it outside its cookie. */
  sessionOf?: (headers: AppCall["headers"]) => string | undefined;
  /** Creates session ids. One of several workers creates ids that identify it. */
  newSessionId?: () => string;
  start?(): MaybePromise<void>;
  /** Called if `start` succeeded. */
  stop?(): MaybePromise<void>;
  /** Called in any case, after `stop`. */
  close?(): MaybePromise<void>;
}

/** Values that a host provides to the server that it creates. */
export interface AppHost {
  implementation: string;
  /** Runs `verify` outside the event loop. */
  verifyInPool?: (args: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  newSessionId?: () => string;
  mcpSecret?: string;
  /** Types of servers by name, for servers that the config of the run does not contain. */
  serverTypes?: ReadonlyMap<string, ServerType>;
}

const PROBES = Object.fromEntries(PROBE_PATHS.map((path) => [path, () => ({ status: "ok" })]));

const NO_ROUTE = { 404: "Not Found", 405: "Method Not Allowed" };

/** One running server instance, independent of how it is reached. */
export class ServerApp implements RequestHandler {
  readonly name: string;
  readonly type: ServerType;
  readonly cookie: SessionCookie;
  readonly #parts: AppParts;
  readonly #get: Map<string, Handler>;
  readonly #post: Map<string, Handler>;
  #rollouts: RolloutContext | undefined;
  #starting: Promise<void> | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.type = parts.type;
    this.cookie = new SessionCookie(`${parts.className}___${parts.name}`);
    const describe = (form: "json" | "page") => () => this.#describe(form);
    this.#get = new Map(
      Object.entries({
        ...PROBES,
        "/openapi.json": describe("json"),
        "/docs": describe("page"),
        "/redoc": describe("page"),
        ...parts.get,
      }),
    );
    this.#post = new Map(Object.entries(parts.post));
  }

  /** Paths of `POST` routes, without the fallback. */
  get postPaths(): string[] {
    return [...this.#post.keys()];
  }

  /** The route that answers a path, with a placeholder for names of tools and other paths without a route of their own. */
  routeOf(path: string): string {
    if (this.#post.has(path) || this.#get.has(path)) return path;
    const mount = this.#parts.mounts?.find((mounted) => path.startsWith(`${mounted}/`));
    return mount === undefined ? "/{path}" : `${mount}/{path}`;
  }

  /** Adds a route of the host. */
  addGet(path: string, handler: Handler): void {
    this.#get.set(path, handler);
  }

  /** Attributes the handlers' calls to other servers to their rollout. */
  attribute(rollouts: RolloutContext): void {
    this.#rollouts = rollouts;
  }

  start(): Promise<void> {
    this.#starting = (async () => this.#parts.start?.())();
    return this.#starting;
  }

  /** Waits for a start in progress, so that what it opens is closed too. */
  async close(): Promise<void> {
    const isStarted = await this.#starting?.then(
      () => true,
      () => false,
    );
    try {
      if (isStarted) await this.#parts.stop?.();
    } catch (error) {
      this.#parts.log.warn(`the server did not stop cleanly: ${errorMessage(error)}`);
    }
    await this.#parts.close?.();
  }

  /** The session of a request; undefined when it names none. */
  sessionOf({ cookies, headers }: Pick<AppCall, "cookies" | "headers">): string | undefined {
    return this.#parts.sessionOf?.(headers) ?? this.cookie.read(cookies[this.cookie.name])?.id;
  }

  handle(call: AppCall): Promise<Reply> {
    const target = splitRolloutPrefix(call.path);
    const { path, rolloutId } = target;
    const { body } = call;
    return this.#rollouts
      ? this.#rollouts.serve({ path, rolloutId, body }, () => this.#answer(call, target))
      : this.#answer(call, target);
  }

  async #answer(
    call: AppCall,
    { path, rolloutId, tokenCapture }: ReturnType<typeof splitRolloutPrefix>,
  ): Promise<Reply> {
    const given = this.cookie.read(call.cookies[this.cookie.name]);
    const sessionId = given?.id ?? (this.#parts.newSessionId ?? randomUUID)();
    const cookie = given?.isFresh ? call.cookies[this.cookie.name] : undefined;
    // Also set on errors: callers that replace their cookies would otherwise lose the session.
    let session = this.#parts.withoutSessions
      ? NO_COOKIES
      : { [this.cookie.name]: cookie ?? this.cookie.sign(sessionId) };
    try {
      const handler = this.#route(call.method, path);
      if (typeof handler === "number")
        return new Reply({ status: handler, body: { detail: NO_ROUTE[handler] }, cookies: session });
      if (call.body instanceof MalformedBody && !this.#parts.takesMalformed?.(path))
        throw new ValidationError([call.body.detail]);
      const { body, cookies, headers, signal, onStage, query } = call;
      const value = await handler({
        path,
        query,
        body,
        cookies,
        headers,
        signal,
        sessionId,
        rolloutId,
        tokenCapture,
        onStage,
      });
      if (value instanceof Reply && value.sessionId !== undefined)
        session = { [this.cookie.name]: this.cookie.sign(value.sessionId) };
      if (!(value instanceof Reply)) return new Reply({ body: value ?? null, cookies: session });
      return new Reply({ ...value, cookies: { ...value.cookies, ...session } });
    } catch (error) {
      return new Reply({ ...this.#failed(error, call, path, rolloutId), cookies: session });
    }
  }

  #failed(error: unknown, call: AppCall, path: string, rolloutId: string | undefined): Partial<Reply> {
    const { name: server, type } = this;
    const { signal, body } = call;
    try {
      const rollout = rolloutOfRequest({ path, rolloutId, body });
      return mapError(error, { server, type, path, signal, log: this.#parts.log, rollout });
    } catch {
      // The error cannot be described; the caller still gets a response.
      return { status: 500, body: { detail: "Internal Server Error" } };
    }
  }

  unwritable(call: AppCall, error: unknown): Reply {
    const { path, rolloutId } = splitRolloutPrefix(call.path);
    const cause = unwritableCause(call, path, error);
    const session = this.cookie.read(call.cookies[this.cookie.name]);
    const cookies = session && { [this.cookie.name]: this.cookie.sign(session.id) };
    return new Reply({ ...this.#failed(cause, call, path, rolloutId), cookies });
  }

  /** Loaded on demand, because runs do not use it. */
  async #describe(form: "json" | "page"): Promise<unknown> {
    const { docsPage, openApiOf } = await import("./apps/openapi.ts");
    const [get, post] = [[...this.#get.keys()], this.postPaths];
    const server = { name: this.name, get, post, notes: this.#parts.notes?.() ?? {} };
    if (form === "json") return openApiOf(server);
    return new Reply({ raw: docsPage(server), headers: { "content-type": "text/html; charset=utf-8" } });
  }

  #route(method: string, path: string): Handler | 404 | 405 {
    if (method === "POST") {
      const handler = this.#post.get(path);
      if (handler) return handler;
      if (this.#parts.fallback && path.length > 1 && path.indexOf("/", 1) < 0) return this.#parts.fallback;
      const mount = this.#parts.mounts?.find((mounted) => path.startsWith(`${mounted}/`));
      const mounted = mount === undefined ? undefined : this.#post.get(mount);
      if (mounted) return mounted;
      return this.#get.has(path) ? 405 : 404;
    }
    if (method === "GET" || method === "HEAD") {
      const handler = this.#get.get(path);
      if (handler) return handler;
      return this.#post.has(path) ? 405 : 404;
    }
    return this.#post.has(path) || this.#get.has(path) ? 405 : 404;
  }
}

function unwritableCause({ method, body }: AppCall, path: string, error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code === "SERVER_HTTP") return error;
  if (error instanceof RangeError && isTooDeep(body)) return new ValidationError([tooDeep()]);
  const message = `the answer of ${method} ${path} is not JSON: ${errorMessage(error)}`;
  // Not retryable: the verifier would return the same result again.
  if (path === "/verify") return new HttpError(500, message, { failure: failure("verifier_error", message) });
  return new TypeError(message);
}

function tooDeep(): ErrorDetail {
  const ctx = { error: `more than ${MAX_NESTING} levels` };
  return { type: "json_invalid", loc: ["body"], msg: "The body is nested too deeply", input: {}, ctx };
}

/** `harbour_tools` → `HarbourTools`: the class-like name of an implementation folder. */
export function classNameOf(implementation: string): string {
  return implementation
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((part) => part[0]?.toUpperCase() + part.slice(1))
    .join("");
}
