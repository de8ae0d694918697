import { isInfrastructureFailure } from "./failure-classes.ts";
import type { Failure } from "./outcome.ts";

/** With this many refused credentials and not one success the rest would fail the same way. */
const GIVE_UP_AFTER_REFUSALS = 10;
/** The same, in the stage of the model, once a rollout is out of attempts: an endpoint that is not there, or is none. */
const ENDPOINT_FAULTS = new Set(["connection", "invalid_response"]);

/** Counts the rollouts that failed for good, and says when there is no point in going on. */
export class Losses {
  readonly #maxAttempts: number;
  /** Failed rollouts that a resumed run tries again. */
  resumable = 0;
  /** Failed rollouts that it does not, because they were tried as often as allowed. */
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

  /** A rollout that was lost runs again. */
  regained(failure: Failure, attempts: number): void {
    this.#count(failure, attempts, -1);
  }

  #count(failure: Failure, attempts: number, by: 1 | -1): void {
    // A refused row is refused again: it has to be corrected, which makes it another run.
    if (failure.terminal || failure.class === "invalid_row") return;
    if (attempts >= this.#maxAttempts && !isInfrastructureFailure(failure.class)) this.outOfAttempts += by;
    else this.resumable += by;
  }

  /** Why the run should end, if this failure says so. */
  reasonToEnd(failure: Failure, willRetry: boolean): string | undefined {
    if (failure.class === "budget_exhausted") return failure.message;
    const endpointIsWrong = failure.stage === "model" && ENDPOINT_FAULTS.has(failure.class) && !willRetry;
    if ((failure.class !== "provider_auth" && !endpointIsWrong) || this.#anySuccess) return undefined;
    return ++this.#refusals >= GIVE_UP_AFTER_REFUSALS ? failure.message : undefined;
  }
}
