import { type FailureInfo, ServerCallError } from "../client/call-errors.ts";
import { errorMessage } from "../errors.ts";
import { ConversionError } from "../openai/conversion-loss.ts";
import { ValidationError } from "../openai/validation.ts";
import type { AppReply } from "./app.ts";
import { HttpError } from "./errors.ts";
import type { Logger } from "./logger.ts";

/** Error texts are read by models and people: the first part says it. */
const MAX_ERROR_TEXT = 2_000;

/** Turns whatever a handler threw into a status and a body; the only place where error answers are made. */
export function mapError(
  error: unknown,
  context: { server: string; path: string; signal: AbortSignal; log: Logger },
): Omit<AppReply, "cookies"> {
  if (error instanceof ValidationError) return { status: 422, body: { detail: error.detail } };
  if (error instanceof ConversionError) {
    return failure(422, {
      class: "invalid_request",
      stage: "model",
      retryable: false,
      message: error.message,
    });
  }
  if (isHttpError(error)) {
    const body: Record<string, unknown> = { detail: error.detail };
    if (error.failure) body["error"] = error.failure;
    const headers =
      error.retryAfterSeconds === undefined ? undefined : { "retry-after": String(error.retryAfterSeconds) };
    return headers ? { status: error.status, body, headers } : { status: error.status, body };
  }
  if (error instanceof ServerCallError) return mapCallError(error);
  if (context.signal.aborted) {
    const reason = errorMessage(context.signal.reason);
    return failure(504, {
      class: "timeout",
      retryable: true,
      message: `${context.server}${context.path}: ${reason}`,
    });
  }
  context.log.error(
    `${context.path}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return { status: 500, body: describe(error) };
}

/** An error of another server keeps its status and root cause; a wrapper would hide what the user has to know. */
function mapCallError(error: ServerCallError): Omit<AppReply, "cookies"> {
  const { info } = error;
  const status = error.status === undefined ? 502 : error.status >= 400 ? error.status : 502;
  return failure(status, info);
}

function failure(status: number, info: FailureInfo): Omit<AppReply, "cookies"> {
  return { status, body: { detail: info.message, error: info } };
}

/** The thrown value in the manner of a Python repr: short, and what models saw of the original. */
function describe(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  return `${name}('${errorMessage(error).slice(0, MAX_ERROR_TEXT)}')`;
}

// A server file may bring its own copy of the package: compare by code, not by class.
function isHttpError(error: unknown): error is HttpError {
  return (
    error instanceof HttpError ||
    (error instanceof Error && (error as { code?: unknown }).code === "SERVER_HTTP")
  );
}
