import { isDeepStrictEqual } from "node:util";
import { HttpError } from "../../../base/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import type { Cookies } from "../../calls/cookies.ts";
import type { AgentSeed, EpisodeId, ToolAccess } from "./schemas.ts";

/** How long the receipt of a closed session is kept, if the config does not say. */
const DEFAULT_RETRY_SECONDS = 300;
const MAX_RECEIPTS = 100_000;

/** An open session of an agent, between `/v1/agent_sessions` and its close. */
export interface AgentSession {
  readonly id: string;
  readonly seed: AgentSeed;
  readonly accesses: readonly ToolAccess[];
  /** Cookies of the environment after the last tool call. */
  cookies: Cookies;
  /** What the agent observed, one entry per activation. */
  readonly observations: JsonObject[];
}

interface Receipt {
  episode: EpisodeId;
  reply: JsonObject;
  expiresAt: number;
}

/**
 * The sessions of one agent, by ids that the caller chooses. Opening and closing are idempotent, so a caller that lost a
 * reply can repeat its request.
 */
export class AgentSessions {
  readonly #open = new Map<string, AgentSession>();
  readonly #receipts = new Map<string, Receipt>();
  readonly #retryMs: number;
  readonly #accessesOf: (seed: AgentSeed) => readonly ToolAccess[];

  /** `accessesOf` checks a request and returns the tools of its session. */
  constructor(options: {
    retrySeconds: number | undefined;
    accessesOf: (seed: AgentSeed) => readonly ToolAccess[];
  }) {
    this.#retryMs = (options.retrySeconds ?? DEFAULT_RETRY_SECONDS) * 1000;
    this.#accessesOf = options.accessesOf;
  }

  /** Opens a session. `cookie` is the session of the request's cookie. */
  seed(seed: AgentSeed, cookie: string | undefined): AgentSession {
    const { agent_session_id: id } = seed;
    requireSame(id, cookie);
    const open = this.#open.get(id);
    if (open) {
      if (isDeepStrictEqual(open.seed, seed)) return open;
      throw new HttpError(409, "agent_session_id is already bound to another seed request");
    }
    if (this.#receipt(id)) throw new HttpError(409, "Agent session is already closed");
    if (cookie === id) throw new HttpError(409, "Agent session cookie has expired");
    const accesses = this.#accessesOf(seed);
    const cookies = accesses.find((access) => access.kind === "direct_http")?.cookies ?? {};
    const session = { id, seed, accesses, cookies, observations: [] };
    this.#open.set(id, session);
    return session;
  }

  /** The open session of a request; undefined for a request outside sessions. */
  of(cookie: string | undefined): AgentSession | undefined {
    if (cookie === undefined) return undefined;
    const session = this.#open.get(cookie);
    if (!session) throw new HttpError(409, "Unknown or closing agent_session_id");
    return session;
  }

  /** Closes a session and returns its receipt; an unknown id cannot be opened afterwards. */
  close(id: string, episode: EpisodeId, cookie: string | undefined): JsonObject {
    requireSame(id, cookie);
    const receipt = this.#receipt(id);
    const open = this.#open.get(id);
    const bound = receipt?.episode ?? open?.seed.episode_id;
    if (bound && !isDeepStrictEqual(bound, episode))
      throw new HttpError(409, "episode_id does not match the seeded agent session");
    if (receipt) return receipt.reply;
    if (!open && cookie === id) throw new HttpError(409, "Agent close receipt has expired");
    this.#open.delete(id);
    const reply = {
      agent_session_id: id,
      agent_observations: open && open.observations.length > 0 ? open.observations : null,
      resources_cookies: open ? open.cookies : null,
    };
    this.#receipts.set(id, { episode, reply, expiresAt: performance.now() + this.#retryMs });
    if (this.#receipts.size > MAX_RECEIPTS) this.#dropExpired();
    return reply;
  }

  #receipt(id: string): Receipt | undefined {
    const receipt = this.#receipts.get(id);
    if (receipt === undefined || receipt.expiresAt > performance.now()) return receipt;
    this.#receipts.delete(id);
    return undefined;
  }

  #dropExpired(): void {
    for (const [id, { expiresAt }] of this.#receipts) {
      if (expiresAt > performance.now() && this.#receipts.size <= MAX_RECEIPTS) return;
      this.#receipts.delete(id);
    }
  }
}

function requireSame(id: string, cookie: string | undefined): void {
  if (cookie !== undefined && cookie !== id)
    throw new HttpError(409, "agent_session_id does not match the session cookie");
}
