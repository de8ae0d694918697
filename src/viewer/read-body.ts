import type { IncomingMessage } from "node:http";
import { ViewerRequestError } from "./errors.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** The JSON body of a request. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\b/.test(type))
    throw new ViewerRequestError(415, `The content type is '${type.slice(0, 100)}'. Send application/json.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new ViewerRequestError(413, "The body is longer than 64 kB.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw new ViewerRequestError(400, "The body is not JSON.");
  }
}
