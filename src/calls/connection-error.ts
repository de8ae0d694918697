import { GymError } from "../errors.ts";

export type ConnectionErrorCode =
  | "CONNECTION_CLOSED"
  | "CONNECTION_PROXY"
  | "CONNECTION_TIMEOUT"
  | "REQUEST_INVALID"
  | "RESPONSE_NOT_HTTP"
  | "RESPONSE_TOO_LARGE";

/** A request that cannot be sent, or has no complete response. System errors (`ECONNREFUSED` and the like) are thrown as they are. */
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

/** The error of a request in our own codes; errors of the system and of callers stay as they are. */
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
