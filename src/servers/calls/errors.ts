import { parseJson } from "../../base/door.ts";
import { type ErrorTable, GymError } from "../../base/errors.ts";
import { classOfStatus, type FailureInfo, type FailureStage } from "../../base/failures.ts";

/** Another server could not be reached, or answered with an error; `info` is the root cause as far as known. */
export class ServerCallError extends GymError {
  readonly server: string;
  /** HTTP status of the response; undefined without a response. */
  readonly status: number | undefined;
  readonly info: FailureInfo;

  constructor(server: string, status: number | undefined, info: FailureInfo, options?: { cause?: unknown }) {
    super("SERVER_CALL", info.message, options);
    this.server = server;
    this.status = status;
    this.info = info;
  }
}

/**
 * Whether this is a failed call, including one thrown by another copy of the package (a server folder may have its
 * own).
 */
export function isServerCallError(error: unknown): error is ServerCallError {
  return error instanceof Error && (error as { code?: unknown }).code === "SERVER_CALL";
}

const MAX_QUOTED_BODY = 1_000;

/** Reads the root cause from an error response. Error bodies of other software are quoted. */
export function failureOf(
  server: string,
  path: string,
  stage: FailureStage,
  reply: { status: number; text(): string },
): ServerCallError {
  const text = reply.text();
  const body = parseJson(text);
  const inner = (body as { error?: Partial<FailureInfo> } | undefined)?.error;
  if (inner && typeof inner.class === "string" && typeof inner.message === "string") {
    const info = {
      class: inner.class,
      stage: inner.stage ?? stage,
      retryable: inner.retryable === true,
      message: inner.message,
    };
    return new ServerCallError(server, reply.status, info);
  }
  const detail = (body as { detail?: unknown } | undefined)?.detail ?? body ?? text;
  const quoted = (typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, MAX_QUOTED_BODY);
  return new ServerCallError(server, reply.status, {
    class: classOfStatus(reply.status, stage),
    stage,
    retryable: reply.status >= 500 || reply.status === 429 || reply.status === 408,
    message: `${reply.status} from ${server} ${path}: ${quoted}`,
  });
}

/** Sets `stage` on a failure that has none. */
export function inStage(stage: FailureStage, error: unknown): unknown {
  if (!isServerCallError(error) || error.info.stage) return error;
  return new ServerCallError(error.server, error.status, { ...error.info, stage }, { cause: error });
}

/** Codes of calls from one server to another. */
export const clientErrorCodes = {
  ServerCallError: {
    SERVER_CALL: {
      when: "A server or its provider answered with an error, or did not answer in time; the message names host and status.",
      fix: "Follow the message: it describes the root cause.",
    },
  },
  GymError: {
    UNKNOWN_SERVER: {
      when: "A call names a server that is not part of this run.",
      fix: "Use one of the names listed, or add the server to the config.",
    },
  },
} satisfies ErrorTable;
