/** Number of responses that are evaluated together. */
const SMALLEST_WINDOW = 32;
const LARGEST_WINDOW = 512;
/** A window is slow when its median exceeds the best one by this factor … */
const TOLERANCE = 3;
/** … and its throughput is below this part of the best: large batches are slow per call but efficient. */
const WORTH_IT = 0.8;
/** Windows with a lower average latency are never slow. */
const QUICK_MS = 1_000;
/** The best values decay by this much per window, because models and prompts change. */
const FORGET = 0.02;

interface CallTimes {
  startedAt: number;
  among: number;
}

/**
 * Detects that responses have become much slower and fewer, which means too many calls at once. Latency is measured per generated token where the number of tokens is known.
 */
export class LatencyWindow {
  #costs: number[] = [];
  #most = 0;
  #openedAt: number | undefined;
  #tokens = 0;
  #totalMs = 0;
  #bestCost = Number.POSITIVE_INFINITY;
  #bestThroughput = 0;

  /** Adds a call. Returns the concurrency of the window if this call completes a slow one. */
  add(call: CallTimes, endedAt: number, outputTokens: number | null): { concurrency: number } | undefined {
    this.#openedAt ??= call.startedAt;
    this.#totalMs += endedAt - call.startedAt;
    this.#costs.push((endedAt - call.startedAt) / Math.max(1, outputTokens ?? 1));
    this.#tokens += Math.max(1, outputTokens ?? 1);
    this.#most = Math.max(this.#most, call.among);
    const size = Math.min(LARGEST_WINDOW, Math.max(SMALLEST_WINDOW, this.#most));
    if (this.#costs.length < size) return undefined;
    return this.#close(endedAt);
  }

  #close(endedAt: number): { concurrency: number } | undefined {
    const sorted = this.#costs.sort((left, right) => left - right);
    const cost = sorted[sorted.length >> 1] ?? 0;
    const throughput = this.#tokens / Math.max(1, endedAt - (this.#openedAt ?? endedAt));
    const slow =
      this.#totalMs > QUICK_MS * sorted.length &&
      cost > TOLERANCE * this.#bestCost &&
      throughput < WORTH_IT * this.#bestThroughput;
    const concurrency = this.#most;
    this.#bestCost = Math.min(cost, this.#bestCost * (1 + FORGET));
    this.#bestThroughput = Math.max(throughput, this.#bestThroughput * (1 - FORGET));
    this.#costs = [];
    this.#tokens = 0;
    this.#totalMs = 0;
    this.#most = 0;
    this.#openedAt = endedAt;
    return slow ? { concurrency } : undefined;
  }
}
