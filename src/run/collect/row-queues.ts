import { agentNameOf } from "../../records/files/door.ts";
import type { PendingRow } from "../resume/resume.ts";

/** Number of rows read ahead, so that every agent has work even if the file lists one agent after the other. */
const LOOK_AHEAD_ROWS = 2_000;
const LOOK_AHEAD_PER_AGENT = 500;

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

export interface QueuedRow extends PendingRow {
  agent: string;
  /** The `traceparent` of the collector, for a rollout on a worker. */
  trace?: string;
}

/**
 * Distributes pending rows so that the agents of a run share the concurrency: the agent with the fewest running
 * rollouts is next.
 */
export class FairQueue {
  readonly #source: AsyncIterator<PendingRow>;
  readonly #waiting = new Map<string, QueuedRow[]>();
  #buffered = 0;
  #exhausted = false;

  constructor(rows: AsyncIterable<PendingRow>) {
    this.#source = rows[Symbol.asyncIterator]();
  }

  /**
   * The next row; undefined when none is left. `running` returns the number of running rollouts of an agent; rows of an
   * agent with infinity are not returned.
   */
  async next(running: (agent: string) => number): Promise<QueuedRow | undefined> {
    if (this.#buffered === 0 || this.#onlyOneAgentLeft()) await this.#read();
    let best: QueuedRow[] | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [agent, rows] of this.#waiting) {
      if (rows.length === 0) continue;
      const count = running(agent);
      if (count < fewest) {
        fewest = count;
        best = rows;
      }
    }
    const row = best?.shift();
    if (row) this.#buffered--;
    return row;
  }

  async isEmpty(): Promise<boolean> {
    if (this.#buffered === 0) await this.#read();
    return this.#buffered === 0;
  }

  /** Stops reading; a resumed run handles the rows that were read ahead. */
  async close(): Promise<void> {
    this.#exhausted = true;
    await this.#source.return?.();
  }

  #onlyOneAgentLeft(): boolean {
    if (this.#waiting.size < 2) return false;
    let withWork = 0;
    for (const rows of this.#waiting.values()) if (rows.length > 0) withWork++;
    return withWork < this.#waiting.size && this.#buffered < LOOK_AHEAD_ROWS;
  }

  async #read(): Promise<void> {
    for (let read = 0; !this.#exhausted && read < LOOK_AHEAD_PER_AGENT; read++) {
      const { value, done } = await this.#source.next();
      if (done) {
        this.#exhausted = true;
        return;
      }
      const { row, taskIndex, rolloutIndex, attempt, line, offset } = value;
      const agent = agentNameOf(row) ?? "";
      const queued: QueuedRow = { row, taskIndex, rolloutIndex, attempt, line, offset, agent };
      const rows = this.#waiting.get(agent);
      if (rows) rows.push(queued);
      else this.#waiting.set(agent, [queued]);
      this.#buffered++;
      // A file with one agent is streamed; reading ahead is worth its memory only with a second agent.
      if (this.#waiting.size === 1 && this.#buffered >= 64) return;
    }
  }
}

/** Rows to retry, each after a delay that doubles with every attempt and is shortened by a random factor. */
export class RetryQueue {
  readonly #waiting: { row: QueuedRow; at: number }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(row: QueuedRow, attempt: number): void {
    const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
    const at = performance.now() + Math.random() * ceiling;
    const index = this.#waiting.findLastIndex((other) => other.at <= at);
    this.#waiting.splice(index + 1, 0, { row, at });
  }

  /** A row whose delay is over; undefined without one. */
  due(): QueuedRow | undefined {
    const first = this.#waiting[0];
    if (!first || first.at > performance.now()) return undefined;
    this.#waiting.shift();
    return first.row;
  }

  /** Milliseconds until the next delay is over; undefined when nothing waits. */
  untilDue(): number | undefined {
    const first = this.#waiting[0];
    return first && Math.max(0, first.at - performance.now());
  }
}
