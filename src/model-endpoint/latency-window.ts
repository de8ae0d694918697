/** Answers that are looked at together. */
const SMALLEST_WINDOW = 32;
const LARGEST_WINDOW = 512;
/** Slower than the best times this is slow … */
const TOLERANCE = 3;
/** … when also less comes through than this part of the best: batches that are slow and full are well used. */
const WORTH_IT = 0.8;
/** Answers that take no longer than this on average are not worth a thought. */
const QUICK_MS = 1_000;
/** What was best is forgotten by this much per window: models and prompts change. */
const FORGET = 0.02;

interface CallTimes {
  startedAt: number;
  among: number;
}

/**
 * Tells when answers have become much slower and fewer: then there are too many calls at once. Time is counted per generated token where tokens are known, because long answers take long.
 */
export class LatencyWindow {
  #costs: number[] = [];
  #most = 0;
  #openedAt: number | undefined;
  #tokens = 0;
  #totalMs = 0;
  #bestCost = Number.POSITIVE_INFINITY;
  #bestThroughput = 0;

  /** The concurrency of a window that was slow and no better for it; undefined while all is well. */
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
