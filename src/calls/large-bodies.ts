/** Bodies that reach this size are counted. */
export const LARGE_BODY_BYTES = 64 * 1024;
const MOST_LARGE_BODIES = 64;
/** Characters of replies that wait for their callers to read them. */
const MOST_UNREAD_REPLIES = 128 * 1024 * 1024;
/** How long a reply holds others back: a caller that has stopped reading must not stop the process. */
const MOST_UNREAD_MS = 60_000;

export interface LargeBodyLimits {
  /** Bodies read at once. */
  bodies?: number;
  /** Characters of unread replies above which no further body is read. */
  unread?: number;
  /** How long a reply counts as unread. */
  unreadMs?: number;
}

/**
 * Bounds what a process holds of large answers. Thousands of long answers may end together, as after a weight update, and a caller may read
 * its replies more slowly than they are made. A body that has to wait stays with the server that sends it: its socket is paused.
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

  /** False: `resume` is called when it is this body's turn. */
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

  /** A reply of this length waits to be read by its caller, until the returned function is called or the time is over. */
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

/** Those of this process. */
export const largeBodies = new LargeBodies();
