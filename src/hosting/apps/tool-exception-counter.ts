import { redactKnown } from "../../secrets.ts";
import type { ToolExceptions } from "../../wire/result-members.ts";

/** Limits the counts of sessions that end without a verification. */
const MAX_SESSIONS = 10_000;
const MAX_MESSAGE = 500;

/**
 * Counts the exceptions of tools by session. The model reads an exception as the result of its call and the rollout is
 * scored, so without a count a broken tool would not be noticed.
 */
export class ToolExceptionCounter {
  readonly #server: string;
  readonly #bySession = new Map<string, ToolExceptions>();

  constructor(server: string) {
    this.#server = server;
  }

  add(sessionId: string, error: unknown): void {
    const known = this.#bySession.get(sessionId);
    if (known) {
      known.count++;
      return;
    }
    const [oldest] = this.#bySession.size >= MAX_SESSIONS ? this.#bySession.keys() : [];
    if (oldest !== undefined) this.#bySession.delete(oldest);
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
