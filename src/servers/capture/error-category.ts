import { type FailureInfo, isFailureOf } from "../../base/failures.ts";
import { transportFailure } from "../../base/transport/door.ts";
import type { StreamOutcome } from "../../wire/stream/door.ts";
import { isServerCallError } from "../calls/errors.ts";
import { isProviderError } from "../model-endpoint/provider-error.ts";

/** Why a recorded call is not a success. */
export type ErrorCategory =
  | "timeout"
  | "rate_limit"
  | "auth"
  | "not_found"
  | "client_error"
  | "upstream_error"
  | "incomplete"
  | "stream_truncated"
  | "capture_parse_error"
  | "connection"
  | "exception";

/** The category of a status; null for success. */
export function categoryOfStatus(status: number): ErrorCategory | null {
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "rate_limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "not_found";
  if (status >= 500) return "upstream_error";
  return status >= 400 ? "client_error" : null;
}

/** The category of the end of a stream. A stream without a final event is truncated. */
export function categoryOfStream(outcome: StreamOutcome | undefined): ErrorCategory | null {
  switch (outcome) {
    case undefined:
      return "stream_truncated";
    case "error":
      return "upstream_error";
    case "incomplete":
      return "incomplete";
    case "complete":
      return null;
  }
}

/** The category of an exception. `status` is the status of the response, if the exception determines it. */
export function categoryOfError(error: unknown, status: number | undefined): ErrorCategory {
  const failure = failureOf(error);
  if (isFailureOf(failure, "timeout")) return "timeout";
  if (isFailureOf(failure, "connection")) return "connection";
  const byStatus = status === undefined ? null : categoryOfStatus(status);
  if (byStatus !== null) return byStatus;
  return transportFailure(error) ?? "exception";
}

function failureOf(error: unknown): FailureInfo | undefined {
  if (isProviderError(error)) return error.failure;
  return isServerCallError(error) ? error.info : undefined;
}
