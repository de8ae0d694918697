/** Bodies that reach this size are counted. */
export const LARGE_BODY_BYTES = 64 * 1024;
const MOST_LARGE_BODIES = 64;
/** Maximum number of characters of replies that their callers have not read. */
const MOST_UNREAD_REPLIES = 128 * 1024 * 1024;
/** How long an unread reply blocks others: a caller that has stopped reading must not block the process. */
const MOST_UNREAD_MS = 60_000;

export interface LargeBodyLimits {
  /** Bodies read concurrently. */
  bodies?: number;
  /** Characters of unread replies above which no further body is read. */
  unread?: number;
  /** How long a reply counts as unread. */
  unreadMs?: number;
}

/**
 * Bounds the memory that a process uses for large answers. Thousands of long answers may end at the same time, for
 * example after a weight update, and a caller may read its replies more slowly than they are produced. A waiting body
 * stays with its sender: its socket is paused.
 */
export class LargeBodies {
  readonly #mostBodies: number;
  readonly #mostUnread: number;
  readonly #unreadMs: number;
  #reading = 0;
  #unread = 0;
  readonly #waiting = new Set<() => void>();

  constructor({
    bodies = MOST_LARGE_BODIES,
    unread = MOST_UNREAD_REPLIES,
    unreadMs = MOST_UNREAD_MS,
  }: LargeBodyLimits = {}) {
    this.#mostBodies = bodies;
    this.#mostUnread = unread;
    this.#unreadMs = unreadMs;
  }

  /** Returns false if the body must wait; then `resume` is called when it may continue. */
  enter(resume: () => void): boolean {
    if (!this.#hasRoom) {
      this.#waiting.add(resume);
      return false;
    }
    this.#reading++;
    return true;
  }

  /** The body was read, or is no longer needed. */
  leave(resume: () => void): void {
    if (this.#waiting.delete(resume)) return;
    this.#reading--;
    this.#admit();
  }

  /** Counts a reply of this length as unread until the returned function is called or the time is over. */
  replying(length: number): () => void {
    this.#unread += length;
    let counts = true;
    const end = () => {
      if (!counts) return;
      counts = false;
      clearTimeout(timer);
      this.#unread -= length;
      this.#admit();
    };
    const timer = setTimeout(end, this.#unreadMs).unref();
    return end;
  }

  get #hasRoom(): boolean {
    return this.#reading < this.#mostBodies && this.#unread < this.#mostUnread;
  }

  #admit(): void {
    for (const resume of this.#waiting) {
      if (!this.#hasRoom) return;
      this.#waiting.delete(resume);
      this.#reading++;
      resume();
    }
  }
}

/** The instance of this process. */
export const largeBodies = new LargeBodies();
