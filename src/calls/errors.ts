import { type ErrorTable, GymError } from "../errors.ts";
import { parseJson } from "../parse-json.ts";

/** The stage of a rollout in which an error occurred. */
export type FailureStage = "seed" | "model" | "tool" | "verify" | "run";

/** Why a rollout did not complete. Error bodies contain it under `error`, so that the root cause survives every hop. */
export interface FailureInfo {
  class: string;
  stage?: FailureStage;
  retryable: boolean;
  message: string;
}

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
    class: classOf(reply.status, stage),
    stage,
    retryable: reply.status >= 500 || reply.status === 429 || reply.status === 408,
    message: `${reply.status} from ${server} ${path}: ${quoted}`,
  });
}

function classOf(status: number, stage: FailureStage): string {
  if (status === 422) return stage === "model" ? "invalid_request" : "invalid_row";
  if (stage === "verify") return "verifier_error";
  if (stage === "tool") return "tool_error";
  if (stage === "model") return "model_error";
  return "agent_error";
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
    PROVIDER_URL: {
      when: "The base URL of a model endpoint cannot be used.",
      fix: "Write it like `https://api.example.com/v1`: no query, no credentials, and not the path of a call such as `/chat/completions`.",
    },
    PROVIDER_KEY_FILE: {
      when: "The file of `api_key_file` cannot be read or does not contain exactly one key.",
      fix: "Put only the key into the file.",
    },
    PROVIDER_API_KEY: {
      when: "An API key contains characters that are not valid in an HTTP header, such as an ellipsis or a line break.",
      fix: "Copy the whole key again; surrounding whitespace is ignored.",
    },
    PROVIDER_HEADER: {
      when: "A configured header cannot be sent: its name or value contains characters that are not valid in a header.",
      fix: "Correct the header in `default_headers` or `openai_default_headers`.",
    },
    PROVIDER_STREAM: {
      when: "`extra_body` or `sampling_overrides` of a model server asks endpoints to stream.",
      fix: "Remove `stream`: the gym reads whole answers and streams them to callers that request it.",
    },
    PROVIDER_CACHE: {
      when: "`response_cache_dir` of a model server cannot be created or written to.",
      fix: "Set a folder that this user can write to, or remove the key.",
    },
    PROVIDER_PRICE_UNKNOWN: {
      when: "`max_cost` is set for a model whose price is not known, so the limit cannot be enforced.",
      fix: "Set `prices` of the model server, in dollars per million tokens.",
    },
    PROVIDER_MAX_COST: {
      when: "`max_cost` at the top of the config is not a number of dollars.",
      fix: "Write it like `++max_cost=25`, or leave it out.",
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
  ProviderError: {
    PROVIDER_AUTH: {
      when: "A model endpoint refused the key (401, 403), or the account behind it has no credit (402, used-up quota).",
      fix: "Check the key and the account; the message quotes the endpoint.",
    },
    PROVIDER_RATE_LIMIT: {
      when: "A model endpoint kept answering 429 until the retry budget was used up.",
      fix: "Lower the concurrency, or raise `retry_seconds` and `retry_attempts`.",
    },
    PROVIDER_ERROR: {
      when: "A model endpoint refused the request (other 4xx), or kept failing (5xx) until the retry budget was used up.",
      fix: "Follow the message of the endpoint; for 5xx try later.",
    },
    PROVIDER_CONNECTION: {
      when: "A model endpoint could not be reached, or closed the connection, until the retry budget was used up.",
      fix: "Check that it is running and that host and port are correct.",
    },
    PROVIDER_INVALID_RESPONSE: {
      when: "A model endpoint answered with success and an unusable body: not JSON, another structure, too large, or a redirect.",
      fix: "Check that the base URL is that of the API; the message quotes the body.",
    },
    PROVIDER_BUDGET_EXHAUSTED: {
      when: "The calls of the run, or of one server, have cost as much as `max_cost` allows.",
      fix: "Raise `max_cost` and resume the run.",
    },
  },
  "ProviderError, AttemptTimeout": {
    PROVIDER_TIMEOUT: {
      when: "A model endpoint did not answer in time, as often as the retry budget allows.",
      fix: "Raise `request_timeout_seconds`, or find out why the endpoint is slow.",
    },
  },
} satisfies ErrorTable;
