import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "../../base/errors.ts";
import type { QueuedRow } from "./row-queues.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

interface OutageOptions {
  /** Resolves when the server answers with any status. */
  probe: (server: string, signal: AbortSignal) => Promise<unknown>;
  /** How long to wait for a server. */
  longestMs: number;
  began: (server: string, message: string) => void;
  ended: (server: string, milliseconds: number) => void;
  gaveUp: (message: string) => void;
}

interface Outage {
  server: string;
  since: number;
  rows: QueuedRow[];
}

/**
 * Agents whose server is unreachable. Their rows wait here unchanged until it answers again: a row that never reached
 * its server does not use an attempt.
 */
export class Outages {
  readonly #options: OutageOptions;
  readonly #byAgent = new Map<string, Outage>();
  readonly #back: QueuedRow[] = [];
  readonly #over = new AbortController();

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Whether the rows of an agent have to wait. */
  has(agent: string): boolean {
    return this.#byAgent.has(agent);
  }

  /** Number of rows that wait, plus rows that may run but are not started yet. */
  get waiting(): number {
    let rows = this.#back.length;
    for (const outage of this.#byAgent.values()) rows += outage.rows.length;
    return rows;
  }

  get isEmpty(): boolean {
    return this.#byAgent.size === 0 && this.#back.length === 0;
  }

  /** Adds a row that did not reach `server`. */
  unreachable(row: QueuedRow, server: string, message: string): void {
    if (this.hold(row)) return;
    const outage = { server, since: performance.now(), rows: [row] };
    this.#byAgent.set(row.agent, outage);
    this.#options.began(server, message);
    void this.#watch(row.agent, outage, message);
  }

  /** Holds a row whose agent is unreachable. Returns false if the agent is reachable. */
  hold(row: QueuedRow): boolean {
    const outage = this.#byAgent.get(row.agent);
    outage?.rows.push(row);
    return outage !== undefined;
  }

  /** A row whose wait is over. */
  next(): QueuedRow | undefined {
    return this.#back.shift();
  }

  /** Ends all waiting. */
  close(): void {
    this.#over.abort();
  }

  async #watch(agent: string, outage: Outage, message: string): Promise<void> {
    const { probe, longestMs, ended, gaveUp } = this.#options;
    const { signal } = this.#over;
    let last = message;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      const left = outage.since + longestMs - performance.now();
      if (left <= 0) return gaveUp(last);
      await delay(Math.min(pause, left), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await probe(outage.server, signal);
        break;
      } catch (error) {
        if (signal.aborted) return;
        last = errorMessage(error);
      }
    }
    this.#byAgent.delete(agent);
    this.#back.push(...outage.rows);
    ended(outage.server, performance.now() - outage.since);
  }
}
