import type { Reply } from "../definitions/reply.ts";
import { resultJson } from "../wire/result-json.ts";

/** The body of an answer as text; a stream is read to its end. */
export async function replyText(reply: Reply): Promise<string> {
  if (!reply.stream) return plainText(reply);
  let text = "";
  for await (const frame of reply.stream) text += frame;
  return text;
}

export function plainText({ raw, body }: Reply): string {
  return raw ?? resultJson(body ?? null);
}
