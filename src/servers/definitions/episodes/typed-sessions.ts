import { isDeepStrictEqual } from "node:util";
import { GymError } from "../../../base/errors.ts";
import { LruCache } from "../lru-cache.ts";
import type { EpisodeId } from "./schemas.ts";

/** Maximum number of remembered sessions. */
const MAX_SESSIONS = 100_000;

interface Bound {
  episode: EpisodeId;
  isClosed: boolean;
}

interface Request {
  resources_session_id: string;
  episode_id: EpisodeId;
}

/**
 * The typed sessions of an environment. One with state binds each id to one episode, and does not open it again after
 * its close; one without state accepts everything.
 */
export class TypedSessions {
  readonly #known = new LruCache<Bound>(MAX_SESSIONS);
  readonly #isBound: boolean;

  constructor(isBound: boolean) {
    this.#isBound = isBound;
  }

  open(request: Request): void {
    if (!this.#isBound) return;
    const bound = this.#boundTo(request);
    if (bound?.isClosed) throw new GymError("RESOURCES_SESSION", "The resources session is already closed.");
    if (!bound) this.#remember(request, false);
  }

  /** Closing twice, or an unknown id, succeeds. */
  close(request: Request): void {
    if (!this.#isBound) return;
    this.#boundTo(request);
    this.#remember(request, true);
  }

  #remember({ resources_session_id: id, episode_id: episode }: Request, isClosed: boolean): void {
    this.#known.set(id, { episode, isClosed });
  }

  #boundTo({ resources_session_id: id, episode_id: episode }: Request): Bound | undefined {
    const bound = this.#known.get(id);
    if (bound && !isDeepStrictEqual(bound.episode, episode))
      throw new GymError("RESOURCES_SESSION", "episode_id does not match the seeded resources session.");
    return bound;
  }
}
