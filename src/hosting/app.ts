import { type Cookies, mergeCookies } from "../calls/cookies.ts";
import type { StageListener } from "../calls/server-client.ts";
import { SessionCookies } from "../calls/session-cookies.ts";
import type { StopSignal } from "../calls/stop-signal.ts";
import type { MaybePromise, ServerType } from "../definitions/definitions.ts";
import { type AppReply, Reply } from "../definitions/reply.ts";
import { errorMessage } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { splitRolloutPrefix } from "../wire/rollout-prefix.ts";
import { type ErrorDetail, ValidationError } from "../wire/schemas/validation.ts";
import type { RouteNote } from "./apps/openapi.ts";
import { mapError } from "./error-mapper.ts";
import { isTooDeep, MAX_NESTING } from "./nesting.ts";
import type { RolloutContext } from "./rollout-context.ts";
import { newSessionId, SessionCookie } from "./session-cookie.ts";

export type Method = "GET" | "POST";

/** A request to a server, whichever way it came. */
export interface AppCall {
  method: string;
  /** Path without query, as sent. */
  path: string;
  /** Parsed JSON; undefined when there was no body, a `MalformedBody` when it was no JSON. */
  body: unknown;
  cookies: Cookies;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  signal: AbortSignal;
  /** The same for waits within this program; absent: the signal itself. */
  stop?: StopSignal;
  /** Co-hosted callers hear which stage a rollout is in. */
  onStage?: StageListener | undefined;
}

/** A body that is no JSON, and what the caller is told about it. */
export class MalformedBody {
  readonly text: string;
  readonly detail: ErrorDetail;

  constructor(text: string, detail: ErrorDetail) {
    this.text = text;
    this.detail = detail;
  }
}

/** Who gets an answer; what it does with it must not throw. */
export interface ReplyReceiver {
  answered(reply: AppReply): void;
  /** There is none: whoever stands before the server could not pass the call on. */
  failed(error: unknown): void;
}

/**
 * An answer with the cookie of its session, on errors too: callers that replace their cookies would lose the session otherwise.
 * It is signed when somebody looks: a co-hosted caller may not.
 */
class SessionReply implements AppReply {
  readonly status: number;
  readonly body: unknown;
  readonly raw: string | undefined;
  readonly stream: AsyncIterable<string> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly cookies: Cookies;

  constructor(parts: Partial<AppReply>, session: Cookies) {
    this.status = parts.status ?? 200;
    this.body = parts.body;
    this.raw = parts.raw;
    this.stream = parts.stream;
    this.headers = parts.headers;
    this.cookies = parts.cookies ? mergeCookies(parts.cookies, session) : session;
  }
}

/** What a route handler sees of a request. */
export interface RouteCall {
  /** The last part of the route for the fallback, the whole path otherwise. */
  path: string;
  body: unknown;
  cookies: Cookies;
  headers: AppCall["headers"];
  signal: AbortSignal;
  /** The same for waits within this program: no `AbortSignal` has to be made for it. */
  stop: StopSignal;
  sessionId: string;
  /** Set when the path carried `/ng-rollout/<id>`. */
  rolloutId: string | undefined;
  /** Whether the path asked for training-token capture. */
  tokenCapture: boolean;
  /** Names the call in what is recorded of it; set by model servers that record. */
  modelCallId?: string;
  onStage: StageListener | undefined;
}

/** The signal stays with the call: it is made when the handler asks for it, and most do not. */
class RoutedCall implements RouteCall {
  readonly path: string;
  readonly body: unknown;
  readonly cookies: Cookies;
  readonly headers: AppCall["headers"];
  readonly sessionId: string;
  readonly rolloutId: string | undefined;
  readonly tokenCapture: boolean;
  readonly onStage: StageListener | undefined;
  readonly #call: AppCall;

  constructor(
    call: AppCall,
    path: string,
    sessionId: string,
    rolloutId: string | undefined,
    tokenCapture: boolean,
  ) {
    this.path = path;
    this.body = call.body;
    this.cookies = call.cookies;
    this.headers = call.headers;
    this.sessionId = sessionId;
    this.rolloutId = rolloutId;
    this.tokenCapture = tokenCapture;
    this.onStage = call.onStage;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get stop(): StopSignal {
    return this.#call.stop ?? this.#call.signal;
  }
}

/** The same call but for some parts. Not a spread, which would leave the signal behind. */
export function callWith<Changes extends Partial<RouteCall>>(
  call: RouteCall,
  changes: Changes,
): RouteCall & Changes {
  return { ...call, signal: call.signal, stop: call.stop, ...changes };
}

export type Handler = (call: RouteCall) => MaybePromise<unknown>;

export interface AppParts {
  name: string;
  type: ServerType;
  /** Class-like name in front of the instance name in the cookie. */
  className: string;
  get: Readonly<Record<string, Handler>>;
  post: Readonly<Record<string, Handler>>;
  /** Answers a `POST` to any other single-segment path. */
  fallback?: Handler;
  /** Paths of `post` that also answer for everything below them. */
  mounts?: readonly string[];
  /** What `/openapi.json` and `/docs` tell about routes besides their names. */
  notes?: () => Readonly<Record<string, RouteNote>>;
  log: Logger;
  /** Routes whose handlers look at bodies that are no JSON themselves. */
  takesMalformed?: (path: string) => boolean;
  /** The session a request names by other means than its cookie. */
  sessionOf?: (headers: AppCall["headers"]) => string | undefined;
  /** New ids of sessions; a worker of several makes ids that lead back to it. */
  newSessionId?: () => string;
  start?(): MaybePromise<void>;
  close?(): MaybePromise<void>;
}

const NO_ROUTE = { 404: "Not Found", 405: "Method Not Allowed" };

/** One running server instance, independent of how it is reached. */
export class ServerApp {
  readonly name: string;
  readonly type: ServerType;
  readonly cookie: SessionCookie;
  readonly #parts: AppParts;
  readonly #get: Map<string, Handler>;
  readonly #post: Map<string, Handler>;
  /** The session a request belongs to; undefined when it names none. A field: hosts wrap the app. */
  readonly sessionOf: (call: Pick<AppCall, "cookies" | "headers">) => string | undefined;
  /** The answer in place of one that cannot be written: it is no JSON, or it repeats a body that is nested too deeply. A field too. */
  readonly unwritable: (call: AppCall, error: unknown) => AppReply;
  #rollouts: RolloutContext | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
    this.sessionOf = ({ cookies, headers }) =>
      parts.sessionOf?.(headers) ?? this.cookie.read(cookies[this.cookie.name]);
    this.unwritable = (call, error) => this.#unwritable(call, error);
    this.name = parts.name;
    this.type = parts.type;
    this.cookie = new SessionCookie(`${parts.className}___${parts.name}`);
    const describe = (form: "json" | "page") => () => this.#describe(form);
    this.#get = new Map(
      Object.entries({
        "/": () => ({ status: "ok" }),
        "/openapi.json": describe("json"),
        "/docs": describe("page"),
        "/redoc": describe("page"),
        ...parts.get,
      }),
    );
    this.#post = new Map(Object.entries(parts.post));
  }

  /** Paths answered to `POST`, without the fallback. */
  get postPaths(): string[] {
    return [...this.#post.keys()];
  }

  /** Adds what the host answers itself. */
  addGet(path: string, handler: Handler): void {
    this.#get.set(path, handler);
  }

  /** Lets the handlers' calls to other servers be attributed to the rollout they work for. */
  attribute(rollouts: RolloutContext): void {
    this.#rollouts = rollouts;
  }

  async start(): Promise<void> {
    await this.#parts.start?.();
  }

  async close(): Promise<void> {
    await this.#parts.close?.();
  }

  /** Answers one request; never throws: whatever goes wrong becomes a status and a body. */
  handle(call: AppCall): Promise<AppReply> {
    return new Promise((resolve, reject) => this.serve(call, { answered: resolve, failed: reject }));
  }

  /**
   * The same for one who waits for the answer in his own way; hosts wrap this one. Neither a promise is made for it nor an async
   * function waits, which would hold all its variables: thousands of calls wait at a time.
   */
  serve(call: AppCall, receiver: ReplyReceiver): void {
    const { path, rolloutId, tokenCapture } = splitRolloutPrefix(call.path);
    const known = SessionCookies.sessionIn(call.cookies, this.cookie);
    const given = known === undefined ? call.cookies[this.cookie.name] : undefined;
    const sessionId = known ?? this.cookie.read(given) ?? (this.#parts.newSessionId ?? newSessionId)();
    const session = SessionCookies.of(this.cookie, sessionId, given);
    let result: unknown;
    try {
      const handler = this.#route(call.method, path);
      if (
        call.body instanceof MalformedBody &&
        typeof handler !== "number" &&
        !this.#parts.takesMalformed?.(path)
      )
        throw new ValidationError([call.body.detail]);
      if (typeof handler === "number")
        result = new Reply({ status: handler, body: { detail: NO_ROUTE[handler] } });
      else {
        const routed = new RoutedCall(call, path, sessionId, rolloutId, tokenCapture);
        result = this.#rollouts ? this.#rollouts.serve(handler, routed) : handler(routed);
      }
    } catch (error) {
      receiver.answered(this.#failed(error, call, session));
      return;
    }
    void Promise.resolve(result).then(
      (value) => receiver.answered(this.#reply(value, call, session)),
      (error: unknown) => receiver.answered(this.#failed(error, call, session)),
    );
  }

  #reply(value: unknown, call: AppCall, session: Cookies): AppReply {
    try {
      if (!(value instanceof Reply)) return new SessionReply({ body: value ?? null }, session);
      const reply = new SessionReply(value, session);
      value.release();
      return reply;
    } catch (error) {
      return this.#failed(error, call, session);
    }
  }

  #failed(error: unknown, call: AppCall, session: Cookies): AppReply {
    const { name: server, type } = this;
    const { path } = splitRolloutPrefix(call.path);
    const { log } = this.#parts;
    try {
      return new SessionReply(mapError(error, { server, type, path, signal: call.signal, log }), session);
    } catch {
      // What was thrown cannot even be described; whoever waits for the answer must not wait for ever.
      return new SessionReply({ status: 500, body: { detail: "Internal Server Error" } }, session);
    }
  }

  #unwritable(call: AppCall, error: unknown): AppReply {
    const { path } = splitRolloutPrefix(call.path);
    const given = call.cookies[this.cookie.name];
    const id = this.cookie.read(given);
    const deep = error instanceof RangeError && isTooDeep(call.body);
    const cause = deep
      ? new ValidationError([tooDeep()])
      : new TypeError(`the answer of ${call.method} ${path} is no JSON: ${errorMessage(error)}`);
    const { name: server, type } = this;
    const mapped = mapError(cause, { server, type, path, signal: call.signal, log: this.#parts.log });
    if (id === undefined) return { ...mapped, cookies: {} };
    return new SessionReply(mapped, SessionCookies.of(this.cookie, id, given));
  }

  /** Loaded when somebody asks: a run never does. */
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
