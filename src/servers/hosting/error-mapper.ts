import type { HttpError, Logger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { type FailureInfo, failure } from "../../base/failures.ts";
import { redactKnown } from "../../base/secrets.ts";
import type { ErrorDetail, ValidationError } from "../../wire/schemas/door.ts";
import type { ServerCallError } from "../calls/errors.ts";
import type { Reply } from "../calls/server-call.ts";
import type { ServerType } from "../definitions/definitions.ts";
import { isProviderError, type ProviderError } from "../model-endpoint/provider-error.ts";
import { isTooDeep } from "./body.ts";

/** Maximum length of error texts, which models and people read. */
const MAX_ERROR_TEXT = 2_000;

/** Status, body and headers of an error response. */
type ErrorReply = Pick<Reply, "status" | "body"> & Partial<Pick<Reply, "headers">>;

interface ErrorContext {
  server: string;
  type?: ServerType;
  path: string;
  signal: AbortSignal;
  log: Logger;
  /** The rollout of the request, for the log. */
  rollout?: string;
}

/** Converts a thrown value to a status and a body; the only place that creates error responses. */
export function mapError(error: unknown, context: ErrorContext): ErrorReply {
  const reply = replyTo(error, context);
  const complete = context.type === "responses_api_models" ? withLibraryError(reply, error) : reply;
  return { ...complete, body: redactBody(complete.body) };
}

/** The code of a server may quote a key in an exception. */
function redactBody(body: unknown): unknown {
  if (typeof body === "string") return redactKnown(body);
  if (typeof body !== "object" || body === null) return body;
  const { detail, error } = body as { detail?: unknown; error?: { message?: unknown } };
  return {
    ...body,
    ...(typeof detail === "string" && { detail: redactKnown(detail) }),
    ...(typeof error?.message === "string" && { error: { ...error, message: redactKnown(error.message) } }),
  };
}

const ANSWERS = new Set<unknown>([
  "VALIDATION_FAILED",
  "CONVERSION_UNSUPPORTED",
  "CONVERSION_VALUE",
  "SERVER_HTTP",
  "SERVER_CALL",
]);

/** Whether an error is an exception that the code did not throw as a response. */
export function isException(error: unknown, signal: AbortSignal): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return !ANSWERS.has(code) && !isProviderError(error) && !signal.aborted;
}

function replyTo(error: unknown, context: ErrorContext): ErrorReply {
  // A server file may load its own copy of the package, so errors are identified by code, not by class.
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (code === "VALIDATION_FAILED") {
    context.log.debug(`${context.path}: ${errorMessage(error)}`);
    return { status: 422, body: { detail: (error as ValidationError).detail.map(echoable) } };
  }
  if (code === "CONVERSION_UNSUPPORTED" || code === "CONVERSION_VALUE") {
    return answer(422, failure("invalid_request", errorMessage(error), { stage: "model" }));
  }
  if (code === "SERVER_HTTP") return mapHttpError(error as HttpError);
  if (isProviderError(error)) return mapProviderError(error);
  if (code === "SERVER_CALL") return mapCallError(error as ServerCallError);
  if (context.signal.aborted) {
    const reason = errorMessage(context.signal.reason);
    return answer(504, failure("timeout", `${context.server}${context.path}: ${reason}`));
  }
  const rollout = context.rollout === undefined ? "" : ` of rollout ${context.rollout}`;
  context.log.error(
    `${context.path}${rollout}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return { status: 500, body: describe(error) };
}

/** The error quotes the rejected value, unless it cannot be serialized. */
function echoable(detail: ErrorDetail): ErrorDetail {
  return isTooDeep(detail.input) ? { ...detail, input: "(nested too deeply to be shown)" } : detail;
}

function mapHttpError(error: HttpError): ErrorReply {
  const body: Record<string, unknown> = { detail: error.detail };
  if (error.failure) body["error"] = error.failure;
  const { status, retryAfterSeconds } = error;
  if (retryAfterSeconds === undefined) return { status, body };
  return { status, body, headers: { "retry-after": String(retryAfterSeconds) } };
}

/** The client libraries of the model APIs read type and message under `error`, and a top-level type. */
function withLibraryError(reply: ErrorReply, error: unknown): ErrorReply {
  if (typeof reply.body !== "object" || reply.body === null) return reply;
  const body = reply.body as Record<string, unknown>;
  const type = LIBRARY_TYPES[reply.status] ?? "api_error";
  const described = { type, message: errorMessage(error), ...(body["error"] as object | undefined) };
  return { ...reply, body: { ...body, type: "error", error: described } };
}

const LIBRARY_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  422: "invalid_request_error",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** A model server has used its retry budget, so client libraries must not retry. */
function mapProviderError(error: ProviderError): ErrorReply {
  const headers: Record<string, string> = { "x-should-retry": "false" };
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000));
  return { ...answer(error.status, error.failure), headers };
}

/** An error of another server keeps its status and root cause; a wrapper would hide them from the user. */
function mapCallError(error: ServerCallError): ErrorReply {
  const { info } = error;
  const status = error.status === undefined ? 502 : error.status >= 400 ? error.status : 502;
  return answer(status, info);
}

function answer(status: number, info: FailureInfo): ErrorReply {
  return { status, body: { detail: info.message, error: info } };
}

/** The thrown value in the form of a Python repr: short, and the form that models saw in the original. */
function describe(error: unknown): string {
  if (error === null || error === undefined) return `Error('${error} was thrown')`;
  const name = error instanceof Error ? error.name : typeof error;
  return `${name}('${errorMessage(error).slice(0, MAX_ERROR_TEXT)}')`;
}
