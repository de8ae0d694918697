import type { Reply } from "../calls/server-call.ts";
import { HttpError } from "../definitions/errors.ts";
import { resultJson } from "../wire/result-json.ts";

/** Bytes of one response. Callers have the same limit, so a larger response fails its own call here. */
export const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** The body of a response as text. */
export function replyText({ raw, body }: Reply): string {
  return raw ?? resultJson(body ?? null);
}

/** Refuses a body that is larger than any caller reads. */
export function requireReplySize(text: string, path: string): void {
  if (text.length < MAX_REPLY_BYTES / 3) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_REPLY_BYTES) return;
  const megabytes = (count: number) => Math.ceil(count / (1024 * 1024));
  const message = `the response of ${path} has ${megabytes(bytes)} MB; at most ${megabytes(MAX_REPLY_BYTES)} MB are sent`;
  throw new HttpError(500, message, { failure: { class: "invalid_response", retryable: false, message } });
}

/** The same for a response that may be a stream, which is read to its end. */
export async function streamedText(reply: Reply): Promise<string> {
  if (!reply.stream) return replyText(reply);
  let text = "";
  for await (const frame of reply.stream) text += frame;
  return text;
}
