import type { Readable } from "node:stream";
import { redactMessage } from "../secrets.ts";
import { type RemoteError, statusError } from "./errors.ts";

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Longest part of an error body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;

export function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The error of an answer with a failing status; reads a bounded part of its body for the message. */
export async function answerError(
  host: string,
  answer: { statusCode: number; headers: Headers; body: Readable },
  secrets: readonly (string | undefined)[],
): Promise<RemoteError> {
  const text = await readSome(answer.body);
  const message = messageOf(text) || header(answer.headers, "x-error-message") || "";
  return statusError(
    host,
    answer.statusCode,
    redactMessage(message, secrets),
    header(answer.headers, "retry-after"),
  );
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
    // The status says enough when the explanation does not arrive.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString("utf8");
}

/** The human part of an error body: `error`, `message` or `error_code` of JSON; nothing of an HTML page. */
export function messageOf(text: string): string {
  if (/^\s*</.test(text)) return "";
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof body !== "object" || body === null) return text;
  const { error, message, error_code: code } = body as Record<string, unknown>;
  return [message, error, code].find((part): part is string => typeof part === "string") ?? text;
}
