import { isFailureOf, isInfrastructureFailure } from "../../base/failures.ts";
import type { CollectOptions, Tried } from "./collect-contract.ts";
import type { CollectionProgress } from "./collection-progress.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Failure } from "./outcome.ts";
import type { QueuedRow, RetryQueue } from "./row-queues.ts";

/** Maximum number of permanently failed rollouts kept for a retry on request. */
const MAX_LOST_KEPT = 1_000;

/** The run ends after this many rejected credentials without a success, because the rest would fail too. */
const GIVE_UP_AFTER_REJECTIONS = 10;

interface LostRollout {
  queued: QueuedRow;
  failure: Failure;
  attempts: number;
}

interface RecorderContext {
  concurrency: ConcurrencyLimit;
  progress: CollectionProgress;
  retries: RetryQueue;
  isStopping: () => boolean;
  stopEarly: (reason: string) => void;
}

const idOf = ({ taskIndex, rolloutIndex }: QueuedRow): string => `${taskIndex}-${rolloutIndex}`;

/** Writes the results of rollouts, decides which are retried, and counts those that cannot be. */
export class OutcomeRecorder {
  /** Failed rollouts that a resumed run retries. */
  resumable = 0;
  /** Failed rollouts that are not retried because their attempts are used up. */
  outOfAttempts: number;
  #rejections = 0;
  readonly #options: CollectOptions;
  readonly #context: RecorderContext;
  /** Rollouts that failed permanently, kept so that they can be run again during the collection. */
  readonly #lost = new Map<string, LostRollout>();
  /** Rollouts to run again once they are stopped. */
  readonly #again = new Set<string>();

  constructor(options: CollectOptions, context: RecorderContext) {
    this.#options = options;
    this.#context = context;
    this.outOfAttempts = options.alreadyLost?.outOfAttempts ?? 0;
  }

  /** Rollouts that failed permanently in this session and can be run again, oldest first. */
  get lost(): { id: string; class: string }[] {
    return [...this.#lost].map(([id, { failure }]) => ({ id, class: failure.class }));
  }

  /** Reverts the permanent failure of a rollout, and returns its row. */
  reopen(id: string): QueuedRow | undefined {
    const lost = this.#lost.get(id);
    if (lost === undefined) return undefined;
    this.#lost.delete(id);
    this.#countLoss(lost, -1);
    this.#context.progress.retried();
    return lost.queued;
  }

  /** A running rollout that is being stopped runs again instead of counting as cancelled. */
  runAgain(id: string): void {
    this.#again.add(id);
  }

  /** Writes the result of a rollout. Returns whether it is retried in this run. */
  async record(queued: QueuedRow, outcome: Tried): Promise<boolean> {
    if (outcome.status === "completed") return this.#complete(outcome);
    return outcome.status === "failed" ? this.#fail(queued, outcome) : this.#cancel(queued);
  }

  async #complete({ row, line, settle }: Extract<Tried, { status: "completed" }>): Promise<false> {
    const { output, totals } = this.#options;
    const { progress, concurrency } = this.#context;
    const written = output.append(line);
    // Counted in the order of the file. If the write fails, the run fails and its totals are not used.
    totals?.addUnwritten(row);
    await written;
    progress.written(row);
    await settle?.(() => output.sync());
    concurrency.succeeded();
    return false;
  }

  #cancel(queued: QueuedRow): boolean {
    const { retries, isStopping } = this.#context;
    const isAgain = this.#again.delete(idOf(queued)) && !isStopping();
    if (isAgain) retries.add(queued, 0);
    return isAgain;
  }

  async #fail(
    queued: QueuedRow,
    { failure, persist, line }: Extract<Tried, { status: "failed" }>,
  ): Promise<boolean> {
    const { failures, totals, limits, countAttempts } = this.#options;
    const { retries, concurrency, stopEarly } = this.#context;
    concurrency.failed(failure.class);
    if (line !== undefined) {
      await failures.append(line);
      totals?.coverage.fail(queued.row);
    }
    const attempt = queued.attempt + 1;
    const willRetry = failure.retryable && !failure.terminal && attempt < limits.maxAttempts;
    const reason = this.#reasonToEnd(failure, willRetry);
    if (reason !== undefined) stopEarly(reason);
    if (willRetry) {
      const row = countAttempts === false ? queued.row : { ...queued.row, _ng_attempt_index: attempt };
      retries.add({ ...queued, attempt, row }, attempt);
      return true;
    }
    const lost = { queued, failure, attempts: persist ? attempt : queued.attempt };
    if (this.#lost.size < MAX_LOST_KEPT) this.#lost.set(idOf(queued), lost);
    this.#countLoss(lost, 1);
    return false;
  }

  #countLoss({ failure, attempts }: LostRollout, by: 1 | -1): void {
    // A rejected row must be corrected, which makes it a different run, so it is not resumable.
    if (failure.terminal || isFailureOf(failure, "invalid_row")) return;
    const isOut = attempts >= this.#options.limits.maxAttempts && !isInfrastructureFailure(failure.class);
    if (isOut) this.outOfAttempts += by;
    else this.resumable += by;
  }

  /** The reason to end the run after this failure, if any. */
  #reasonToEnd(failure: Failure, willRetry: boolean): string | undefined {
    if (isFailureOf(failure, "budget_exhausted")) return failure.message;
    if (this.#options.limits.endsAtFailure && !willRetry) return failure.message;
    // The endpoint does not exist, or is not a model API.
    const endpointIsWrong =
      failure.stage === "model" && isFailureOf(failure, "connection", "invalid_response") && !willRetry;
    if ((!isFailureOf(failure, "provider_auth") && !endpointIsWrong) || this.#context.progress.completed > 0)
      return undefined;
    return ++this.#rejections >= GIVE_UP_AFTER_REJECTIONS ? failure.message : undefined;
  }
}
