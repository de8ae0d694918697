import { type ErrorTable, GymError } from "../errors.ts";
import { classOfStatus, type FailureInfo, type FailureStage } from "../failures.ts";
import { parseJson } from "../parse-json.ts";

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

const CONNECTION_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CONNECTION_CLOSED",
  "CONNECTION_PROXY",
  "UND_ERR_SOCKET",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
]);
const TIMEOUT_CODES = new Set([
  "ETIMEDOUT",
  "CONNECTION_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Whether an error means that a peer could not be reached, or did not answer in time. */
export function transportFailure(error: unknown): "connection" | "timeout" | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "" } = error as { code?: string };
  if (error.name === "TimeoutError" || TIMEOUT_CODES.has(code)) return "timeout";
  return CONNECTION_CODES.has(code) ? "connection" : undefined;
}

export type ConnectionErrorCode =
  | "CONNECTION_CLOSED"
  | "CONNECTION_PROXY"
  | "CONNECTION_TIMEOUT"
  | "REQUEST_INVALID"
  | "RESPONSE_NOT_HTTP"
  | "RESPONSE_TOO_LARGE";

/**
 * A request that cannot be sent, or has no complete response. System errors (such as `ECONNREFUSED`) are thrown
 * unchanged.
 */
export class ConnectionError extends GymError {
  override readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
    this.code = code;
  }
}

const CODES: Readonly<Record<string, ConnectionErrorCode>> = {
  UND_ERR_CLOSED: "CONNECTION_CLOSED",
  UND_ERR_CONNECT_TIMEOUT: "CONNECTION_TIMEOUT",
  UND_ERR_DESTROYED: "CONNECTION_CLOSED",
  UND_ERR_HEADERS_OVERFLOW: "RESPONSE_NOT_HTTP",
  UND_ERR_INVALID_ARG: "REQUEST_INVALID",
  UND_ERR_NOT_SUPPORTED: "REQUEST_INVALID",
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: "REQUEST_INVALID",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "CONNECTION_CLOSED",
  UND_ERR_SOCKET: "CONNECTION_CLOSED",
};

/** Converts the error of a request to a code of this package; errors of the system and of callers are unchanged. */
export function connectionError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConnectionError) return error;
  const { code, message, name } = error as Error & { code?: unknown };
  if (name === "HTTPParserError")
    return new ConnectionError("RESPONSE_NOT_HTTP", `the response is not HTTP: ${message}`, { cause: error });
  if (code === "UND_ERR_ABORTED" && message.startsWith("Proxy response"))
    return new ConnectionError("CONNECTION_PROXY", message, { cause: error });
  const own = CODES[String(code)];
  return own === undefined ? error : new ConnectionError(own, message, { cause: error });
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
  ConnectionError: {
    CONNECTION_CLOSED: {
      when: "A server closed the connection before its answer was complete.",
      fix: "Check its log: it may have crashed, or a proxy may have a short timeout. Calls that are safe to repeat are retried.",
    },
    CONNECTION_PROXY: {
      when: "The proxy that `HTTP_PROXY` or `HTTPS_PROXY` names refused to open a tunnel; the message has its status.",
      fix: "Check the proxy's address and credentials, or add the host to `NO_PROXY`.",
    },
    CONNECTION_TIMEOUT: {
      when: "No connection could be made within the time limit.",
      fix: "Check address, port and firewall; for model endpoints `connect_timeout_seconds` sets the limit.",
    },
    REQUEST_INVALID: {
      when: "A request has a header or a path that is not valid in HTTP; nothing was sent.",
      fix: "Correct the value that the message names.",
    },
    RESPONSE_NOT_HTTP: {
      when: "The answer is not HTTP/1.1, or its end is ambiguous.",
      fix: "Check the port, and whether the address should begin with `https://`.",
    },
    RESPONSE_TOO_LARGE: {
      when: "An answer is larger than the limit (256 MB between servers, `max_response_mb` for model endpoints).",
      fix: "Let the server send less, or raise `max_response_mb`.",
    },
  },
} satisfies ErrorTable;
