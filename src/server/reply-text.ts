import { errorMessage } from "../errors.ts";
import type { AppReply } from "./app.ts";

/** The body of an answer as text, a stream as a whole. */
export async function replyText(reply: AppReply): Promise<string> {
  if (!reply.stream) return plainText(reply);
  let text = "";
  for await (const frame of reply.stream) text += frame;
  return text;
}

export function plainText({ raw, body }: AppReply): string {
  return raw ?? JSON.stringify(body ?? null);
}

/** What a caller gets when an answer cannot be written: it is too deep for JSON. */
export function unansweredReply(error: unknown): AppReply {
  return { status: 500, body: { detail: `no answer could be made: ${errorMessage(error)}` }, cookies: {} };
}
