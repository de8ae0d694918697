import { GymError } from "../../base/errors.ts";
import type { FailureClass, FailureInfo } from "../../base/failures.ts";

/** Failures of a model endpoint; each is a failure class of the rollout and a stable error code. */
const PROVIDER_FAILURES = {
  provider_auth: "PROVIDER_AUTH",
  provider_rate_limit: "PROVIDER_RATE_LIMIT",
  provider_error: "PROVIDER_ERROR",
  timeout: "PROVIDER_TIMEOUT",
  connection: "PROVIDER_CONNECTION",
  invalid_response: "PROVIDER_INVALID_RESPONSE",
  budget_exhausted: "PROVIDER_BUDGET_EXHAUSTED",
} as const satisfies Partial<Record<FailureClass, string>>;

export type ProviderFailureClass = keyof typeof PROVIDER_FAILURES;

export interface ProviderErrorParts {
  class: ProviderFailureClass;
  /** The status of the endpoint's response; absent without a response. */
  providerStatus?: number;
  /** The body of the response, for callers that interpret some errors. */
  body?: string;
  retryable: boolean;
  message: string;
  retryAfterMs?: number;
  /** Whether the failure looks permanent, so that few attempts are made. */
  lasting?: boolean;
  cause?: unknown;
}

/** A model endpoint failed; the message names its host and quotes it. */
export class ProviderError extends GymError {
  readonly failure: FailureInfo;
  readonly providerStatus: number | undefined;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
  readonly lasting: boolean;
  readonly #parts: ProviderErrorParts;

  constructor(parts: ProviderErrorParts) {
    super(PROVIDER_FAILURES[parts.class], parts.message, { cause: parts.cause });
    this.#parts = parts;
    this.failure = {
      class: parts.class,
      stage: "model",
      retryable: parts.retryable,
      message: parts.message,
    };
    this.providerStatus = parts.providerStatus;
    this.body = parts.body ?? "";
    this.retryAfterMs = parts.retryAfterMs;
    this.lasting = parts.lasting ?? false;
  }

  /** The same failure with another message. */
  restated(message: string, lasting: boolean = this.lasting): ProviderError {
    return new ProviderError({ ...this.#parts, message, lasting, cause: this });
  }

  /** The status of this server's response: the endpoint's if it sent one, else one that matches the failure. */
  get status(): number {
    const { providerStatus } = this;
    if (providerStatus !== undefined && providerStatus >= 400) return providerStatus;
    switch (this.#parts.class) {
      case "timeout":
        return 504;
      case "budget_exhausted":
        return 402;
      default:
        return 502;
    }
  }
}

/** An attempt exceeded its time limit. */
export class AttemptTimeout extends GymError {
  constructor(milliseconds: number) {
    super("PROVIDER_TIMEOUT", `no answer within ${milliseconds / 1000} s (request_timeout_seconds)`);
  }
}

const CODES = new Set<unknown>(Object.values(PROVIDER_FAILURES));

/** Also recognizes an error that comes from another copy of the package. */
export function isProviderError(error: unknown): error is ProviderError {
  return error instanceof Error && CODES.has((error as { code?: unknown }).code);
}
