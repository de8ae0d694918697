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
