import { isInfrastructureFailure } from "./failure-classes.ts";
import type { Failure } from "./outcome.ts";

/** The run ends after this many refused credentials without a success, because the rest would fail too. */
const GIVE_UP_AFTER_REFUSALS = 10;
/**
 * Failures in the model stage that also end the run once a rollout has no attempts left: the endpoint does not exist,
 * or is not a model API.
 */
const ENDPOINT_FAULTS = new Set(["connection", "invalid_response"]);

/** Counts the rollouts that failed permanently, and decides when the run should end. */
export class Losses {
  readonly #maxAttempts: number;
  /** Failed rollouts that a resumed run retries. */
  resumable = 0;
  /** Failed rollouts that are not retried because their attempts are used up. */
  outOfAttempts: number;
  #refusals = 0;
  #anySuccess = false;

  constructor(maxAttempts: number, outOfAttempts: number) {
    this.#maxAttempts = maxAttempts;
    this.outOfAttempts = outOfAttempts;
  }

  succeeded(): void {
    this.#anySuccess = true;
  }

  lost(failure: Failure, attempts: number): void {
    this.#count(failure, attempts, 1);
  }

  /** A lost rollout runs again. */
  regained(failure: Failure, attempts: number): void {
    this.#count(failure, attempts, -1);
  }

  #count(failure: Failure, attempts: number, by: 1 | -1): void {
    // A refused row must be corrected, which makes it a different run, so it is not resumable.
    if (failure.terminal || failure.class === "invalid_row") return;
    if (attempts >= this.#maxAttempts && !isInfrastructureFailure(failure.class)) this.outOfAttempts += by;
    else this.resumable += by;
  }

  /** The reason to end the run after this failure, if any. */
  reasonToEnd(failure: Failure, willRetry: boolean): string | undefined {
    if (failure.class === "budget_exhausted") return failure.message;
    const endpointIsWrong = failure.stage === "model" && ENDPOINT_FAULTS.has(failure.class) && !willRetry;
    if ((failure.class !== "provider_auth" && !endpointIsWrong) || this.#anySuccess) return undefined;
    return ++this.#refusals >= GIVE_UP_AFTER_REFUSALS ? failure.message : undefined;
  }
}
