import { HttpError } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";

/** Failures that a retry cannot solve: a wrong config, or a program that is not installed. */
const PERMANENT = new Set([
  "SANDBOX_CONFIG",
  "SANDBOX_SPEC",
  "SANDBOX_PROVIDER_UNAVAILABLE",
  "SANDBOX_UNSUPPORTED",
]);

/** No sandbox is available. The rollout fails with this class and is never scored. */
export function sandboxUnavailable(cause: unknown): HttpError {
  const message = `sandbox_unavailable: ${errorMessage(cause)}`;
  const code = (cause as { code?: unknown } | null)?.code;
  const retryable = typeof code !== "string" || !PERMANENT.has(code);
  return new HttpError(503, message, {
    failure: failure("sandbox_unavailable", message, { retryable }),
    cause,
  });
}
