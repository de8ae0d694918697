import type { Readable } from "node:stream";
import { parseJson } from "../../base/door.ts";
import { type CodesOf, type ErrorTable, GymError } from "../../base/errors.ts";
import { redactMessage } from "../../base/secrets.ts";
import { retryAfterMs } from "../../base/transport/light-door.ts";

/** Codes of transfers to and from hubs and registries. */
export const remoteErrorCodes = {
  RemoteError: {
    REMOTE_UNAUTHORIZED: {
      when: "The server does not accept the token (401).",
      fix: "Check the token in `env.yaml`; private repositories need one.",
    },
    REMOTE_FORBIDDEN: {
      when: "The token does not have the permission (403).",
      fix: "Request the permission; a change on Hugging Face can be proposed with `--create-pr`.",
    },
    REMOTE_NOT_FOUND: {
      when: "Repository, branch, collection, version or file does not exist (404).",
      fix: "Check the names; a private repository looks absent to a token without access.",
    },
    REMOTE_CONFLICT: {
      when: "Another client changed the same thing (409).",
      fix: "Try again.",
    },
    REMOTE_RATE_LIMITED: {
      when: "Too many requests, even after waiting for the requested time (429).",
      fix: "Wait, or use a token, which has a higher limit.",
    },
    REMOTE_FAILED: {
      when: "Another error status, even after several attempts.",
      fix: "Correct what the message names; only after a 5xx, try again later.",
    },
    REMOTE_ADDRESS_INVALID: {
      when: "The configured address of the hub or the registry is not an `https://` (or `http://`) address.",
      fix: "Correct `hf_endpoint`, `HF_ENDPOINT`, `mlflow_tracking_uri` or `MLFLOW_TRACKING_URI`.",
    },
    REMOTE_UNREACHABLE: {
      when: "No connection, even after several attempts.",
      fix: "Check address, network and proxy (`HTTPS_PROXY`, `NO_PROXY`).",
    },
    REMOTE_INCOMPLETE: {
      when: "A transfer was interrupted repeatedly.",
      fix: "Run the command again. It continues where it stopped if the server confirms that the content is unchanged.",
    },
    REMOTE_CHECKSUM_MISMATCH: {
      when: "The content does not match the checksum of the server. The file is not kept.",
      fix: "Try again; if the error persists, the stored file is damaged.",
    },
    REMOTE_UNEXPECTED_ANSWER: {
      when: "The answer is not an answer of the API: a web page, endless redirects, missing fields.",
      fix: "Check the address (`hf_endpoint`, `mlflow_tracking_uri`) and whether it requires a login.",
    },
  },
} satisfies ErrorTable;

export type RemoteErrorCode = CodesOf<typeof remoteErrorCodes>;

interface RemoteErrorDetails {
  status?: number;
  /** Whether the same request could succeed later. */
  retryable?: boolean;
  /** The wait that the server requested. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** A hub or registry could not be reached, or rejected a request. The message never contains a key. */
export class RemoteError extends GymError {
  declare readonly code: RemoteErrorCode;
  override readonly remedy: string | undefined;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: RemoteErrorCode, message: string, details: RemoteErrorDetails = {}) {
    super(code, message, { cause: details.cause });
    // The texts of the table are Markdown.
    this.remedy = remoteErrorCodes.RemoteError[code].fix.replaceAll("`", "");
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
/** Limit of the part of an error body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;

type Secrets = readonly (string | undefined)[];
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

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

/** The error for a failing answer, with a message from its body. */
export async function answerError(
  host: string,
  answer: { statusCode: number; headers: Headers; body: Readable },
  secrets: Secrets,
): Promise<RemoteError> {
  const text = await readSome(answer.body);
  const message = messageOfBody(text) || header(answer.headers, "x-error-message") || "";
  const retryAfter = header(answer.headers, "retry-after");
  return statusError(host, answer.statusCode, redactMessage(message, secrets), retryAfter);
}

async function readSome(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // If the body does not arrive, the status is enough.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString("utf8");
}

/** The message in an error body: `message`, `error` or `error_code` of JSON; nothing of an HTML page. */
export function messageOfBody(text: string): string {
  if (/^\s*</.test(text)) return "";
  const body = parseJson(text);
  if (typeof body !== "object" || body === null) return text;
  const { error, message, error_code: code } = body as Record<string, unknown>;
  return [message, error, code].find((part): part is string => typeof part === "string") ?? text;
}

/** The error for a request without an answer. */
export function unreachable(
  host: string,
  cause: unknown,
  { secrets = [], retryable = true }: { secrets?: Secrets; retryable?: boolean } = {},
): RemoteError {
  const message = redactMessage(`${host} cannot be reached: ${rootMessage(cause)}`, secrets);
  return new RemoteError("REMOTE_UNREACHABLE", message, { retryable, cause });
}

/** The same error with the subject of the request added to its message. */
export function aboutSubject(error: unknown, subject: string): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { code, status, message } = error;
  return new RemoteError(code, `${message} (${subject})`, { status, cause: error });
}

/** The error for an answer with a web page. */
export function webPage(host: string, cause?: unknown): RemoteError {
  return new RemoteError(
    "REMOTE_UNEXPECTED_ANSWER",
    `${host} answered with a web page instead of data (a sign-in page, or a wrong address).`,
    { cause },
  );
}

function rootMessage(error: unknown): string {
  let current = error;
  // The AggregateError of a host with several addresses has no message.
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0];
    else if (current.cause instanceof Error) current = current.cause;
    else break;
  }
  return current instanceof Error ? current.message || current.name : String(current);
}
