import { GymError } from "./errors.ts";
import type { FailureInfo } from "./failures.ts";

/** Thrown by a handler to answer with a specific status. */
export class HttpError extends GymError {
  readonly status: number;
  readonly detail: unknown;
  readonly failure?: FailureInfo;
  readonly retryAfterSeconds?: number;

  constructor(
    status: number,
    detail: unknown,
    options: { failure?: FailureInfo; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super("SERVER_HTTP", typeof detail === "string" ? detail : JSON.stringify(detail), options);
    this.status = status;
    this.detail = detail;
    this.failure = options.failure;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * A call to a judge failed (transport, time-out, HTTP error). Never a score: the rollout fails as `judge_failed`.
 */
export class JudgeError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("JUDGE_FAILED", message, options);
  }
}
