import type { AppReply } from "../definitions/reply.ts";
import { resultJson } from "../wire/result-json.ts";

/** The body of an answer as text; a stream is read to its end. */
export async function replyText(reply: AppReply): Promise<string> {
  if (!reply.stream) return plainText(reply);
  let text = "";
  for await (const frame of reply.stream) text += frame;
  return text;
}

export function plainText({ raw, body }: AppReply): string {
  return raw ?? resultJson(body ?? null);
}
