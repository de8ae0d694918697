import { retryAfterMs } from "../calls/retry.ts";
import { GymError } from "../errors.ts";
import { remoteErrorCodes } from "./error-codes.ts";

export type RemoteErrorCode = (typeof remoteErrorCodes)[number]["code"];

interface RemoteErrorDetails {
  status?: number;
  /** Whether the same request could succeed later. */
  retryable?: boolean;
  /** How long the other side asked us to wait. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** A hub or registry could not be reached or refused; the message never holds a key. */
export class RemoteError extends GymError {
  declare readonly code: RemoteErrorCode;
  override readonly remedy: string | undefined;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: RemoteErrorCode, message: string, details: RemoteErrorDetails = {}) {
    super(code, message, { cause: details.cause });
    // The texts of the error reference are Markdown.
    this.remedy = remoteErrorCodes.find((row) => row.code === code)?.fix.replaceAll("`", "");
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

const CODES: Readonly<Record<number, RemoteErrorCode>> = {
  401: "REMOTE_UNAUTHORIZED",
  403: "REMOTE_FORBIDDEN",
  404: "REMOTE_NOT_FOUND",
  409: "REMOTE_CONFLICT",
  429: "REMOTE_RATE_LIMITED",
};

const MAX_MESSAGE = 500;

/** The error for an answer with a failing status: `401 from <host>: <its message>`. */
export function statusError(host: string, status: number, message: string, retryAfter?: string): RemoteError {
  const text = message.trim().replace(/\s+/g, " ").slice(0, MAX_MESSAGE);
  return new RemoteError(
    CODES[status] ?? "REMOTE_FAILED",
    `${status} from ${host}${text === "" ? "" : `: ${text}`}`,
    {
      status,
      retryable: status === 408 || status === 429 || status >= 500,
      retryAfterMs: retryAfterMs(retryAfter),
    },
  );
}

/** The error for a request that got no answer. */
export function unreachable(host: string, cause: unknown): RemoteError {
  return new RemoteError("REMOTE_UNREACHABLE", `${host} cannot be reached: ${rootMessage(cause)}`, {
    retryable: true,
    cause,
  });
}

/** The same error with the subject of the request added to its message. */
export function aboutSubject(error: unknown, subject: string): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { code, status, message } = error;
  return new RemoteError(code, `${message} (${subject})`, { status, cause: error });
}

/** The error for an answer that is meant for a browser. */
export function webPage(host: string, cause?: unknown): RemoteError {
  return new RemoteError(
    "REMOTE_UNEXPECTED_ANSWER",
    `${host} answered with a web page instead of data (a sign-in page, or a wrong address).`,
    { cause },
  );
}

function rootMessage(error: unknown): string {
  let current = error;
  // An AggregateError of several addresses has no message of its own.
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0];
    else if (current.cause instanceof Error) current = current.cause;
    else break;
  }
  return current instanceof Error ? current.message || current.name : String(current);
}
