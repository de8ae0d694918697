import { type ErrorTable, GymError } from "../errors.ts";

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

/** Codes of requests that have no complete response. */
export const connectionErrorCodes = {
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
