import { onSlowDown, slowDownEndpoint } from "../../model-endpoint/endpoint.ts";
import type { Board } from "../../queue/board.ts";

/** The longest pause accepted from another worker. */
const LONGEST_PAUSE_MS = 60 * 60_000;

/** Pauses all workers when a model endpoint asks one of them to wait (429 with or without Retry-After, 503). */
export class SharedLimits {
  readonly #board: Board;
  readonly #worker: string;
  readonly #stopListening: () => void;
  readonly #watch: { close(): void };
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(board: Board, worker: string, watch: { close(): void }) {
    this.#board = board;
    this.#worker = worker;
    this.#watch = watch;
    this.#stopListening = onSlowDown((endpoint, { pauseMs, factor }) =>
      this.#tell(endpoint, pauseMs, factor),
    );
  }

  static async open(board: Board, worker: string): Promise<SharedLimits> {
    const watch = await board.watchSlowDowns((endpoint, record) => {
      const { pause_ms: pauseMs, factor } = record;
      const isUsable = pauseMs >= 0 && pauseMs <= LONGEST_PAUSE_MS && factor > 0 && factor <= 1;
      if (record.worker !== worker && isUsable) slowDownEndpoint(endpoint, { pauseMs, factor });
    });
    return new SharedLimits(board, worker, watch);
  }

  #tell(endpoint: string, pauseMs: number, factor: number): void {
    // If the broker is unreachable, each worker relies on the replies that it receives.
    void this.#board
      .putSlowDown(endpoint, { worker: this.#worker, pause_ms: pauseMs, factor })
      .catch(() => {});
    // Keeps the pause published until it is over, for workers that start later.
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#board.removeSlowDown(endpoint).catch(() => {});
    }, pauseMs).unref();
    this.#timers.add(timer);
  }

  close(): void {
    this.#stopListening();
    this.#watch.close();
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
