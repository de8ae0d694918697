import { HttpError } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";
import type { ServerContext } from "../calls/server-client.ts";
import type { MaybePromise } from "../definitions/definitions.ts";
import { LruCache } from "../definitions/lru-cache.ts";

/** Limits on the age and number of sessions; null disables a limit. */
interface SessionLimits {
  ttlSeconds: number | null;
  maxSessions: number | null;
}

const DEFAULT_SESSION_LIMITS: SessionLimits = { ttlSeconds: 6 * 3600, maxSessions: 100_000 };

/** The state of a verified rollout is kept this long, in case the rollout is used again. */
const VERIFIED_TTL_MS = 10 * 60_000;
const SWEEP_INTERVAL_MS = 30_000;
/** Maximum number of remembered ids of lost sessions: about 10 MB. */
const MAX_LOST_IDS = 100_000;

type SessionCloser<Session> = (args: { session: Session; sessionId: string }) => MaybePromise<void>;

interface Entry<Session> {
  session: Session;
  expiresAt: number;
}

/**
 * The state of all rollouts of one server, by session id: bounded in number and age, closed exactly once. A session
 * that expired or was evicted is remembered as lost: its rollout must fail instead of continuing with a new state. Ages
 * use the monotonic clock, so that neither a clock change nor a suspended machine ends sessions.
 */
export class SessionStore<Session> {
  readonly #entries = new Map<string, Entry<Session>>();
  readonly #lost = new LruCache<string>(MAX_LOST_IDS);
  readonly #ttlMs: number;
  readonly #max: number;
  readonly #close: SessionCloser<Session> | undefined;
  readonly #onCloseError: (error: unknown, sessionId: string) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: {
    limits?: Partial<SessionLimits>;
    close?: SessionCloser<Session>;
    onCloseError: (error: unknown, sessionId: string) => void;
  }) {
    const limits = { ...DEFAULT_SESSION_LIMITS, ...options.limits };
    this.#ttlMs = limits.ttlSeconds === null ? Number.POSITIVE_INFINITY : limits.ttlSeconds * 1000;
    this.#max = limits.maxSessions ?? Number.POSITIVE_INFINITY;
    this.#close = options.close;
    this.#onCloseError = options.onCloseError;
    this.#timer = setInterval(() => this.sweep(), Math.min(SWEEP_INTERVAL_MS, Math.max(50, this.#ttlMs / 2)));
    this.#timer.unref();
  }

  has(sessionId: string): boolean {
    return this.#entries.has(sessionId);
  }

  /** The state of a session; undefined without one. Counts as a use. */
  get(sessionId: string): Session | undefined {
    const entry = this.#entries.get(sessionId);
    if (!entry) return undefined;
    entry.expiresAt = performance.now() + this.#ttlMs;
    // Re-inserting keeps the map in order of last use, so eviction removes the least recently used.
    this.#entries.delete(sessionId);
    this.#entries.set(sessionId, entry);
    return entry.session;
  }

  /** Throws if the state of a session was lost before its rollout ended. */
  requireKept(sessionId: string): void {
    const reason = this.#lost.get(sessionId);
    if (reason === undefined) return;
    const message = `The state of this session is gone: ${reason}.`;
    throw new HttpError(409, message, { failure: failure("session_lost", message) });
  }

  set(sessionId: string, session: Session): void {
    this.#lost.delete(sessionId);
    const old = this.#entries.get(sessionId);
    if (old) {
      this.#entries.delete(sessionId);
      this.#end(sessionId, old.session);
    }
    this.#entries.set(sessionId, { session, expiresAt: performance.now() + this.#ttlMs });
    if (this.#entries.size > this.#max) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined)
        this.#lose(oldest, `more than ${this.#max} sessions were open (max_sessions)`);
    }
  }

  /** Marks a rollout as scored: its state expires soon unless it is used again. */
  release(sessionId: string): void {
    const entry = this.#entries.get(sessionId);
    if (entry) entry.expiresAt = Math.min(entry.expiresAt, performance.now() + VERIFIED_TTL_MS);
  }

  delete(sessionId: string): void {
    const entry = this.#entries.get(sessionId);
    if (!entry) return;
    this.#entries.delete(sessionId);
    this.#end(sessionId, entry.session);
  }

  /** Ends every expired session. */
  sweep(now: number = performance.now()): void {
    for (const [sessionId, entry] of this.#entries)
      if (entry.expiresAt <= now) this.#lose(sessionId, "it was not used for too long (session_ttl_seconds)");
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const sessionId of [...this.#entries.keys()]) this.delete(sessionId);
    await Promise.all(this.#closing);
  }

  #lose(sessionId: string, reason: string): void {
    this.delete(sessionId);
    this.#lost.set(sessionId, reason);
  }

  #end(sessionId: string, session: Session): void {
    if (!this.#close) return;
    const done = Promise.resolve()
      .then(() => this.#close?.({ session, sessionId }))
      .catch((error: unknown) => this.#onCloseError(error, sessionId))
      .finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }
}

/** The sessions of a server, with the limits of its config (`session_ttl_seconds`, `max_sessions`). */
export function sessionsOf(
  { config, log }: Pick<ServerContext<unknown>, "config" | "log">,
  close: ((args: { session: never; sessionId: string }) => MaybePromise<void>) | undefined,
): SessionStore<unknown> {
  const { session_ttl_seconds, max_sessions } = (config ?? {}) as Record<string, unknown>;
  const limits: Partial<SessionLimits> = {};
  if (typeof session_ttl_seconds === "number" || session_ttl_seconds === null)
    limits.ttlSeconds = session_ttl_seconds;
  if (typeof max_sessions === "number" || max_sessions === null) limits.maxSessions = max_sessions;
  return new SessionStore<unknown>({
    limits,
    close: close as SessionCloser<unknown> | undefined,
    onCloseError: (error, id) => log.warn(`closing session ${id}: ${errorMessage(error)}`),
  });
}
