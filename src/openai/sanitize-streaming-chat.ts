import { isTruthy } from "../python/truth.ts";
import type { OnLoss } from "./conversion-loss.ts";
import { isObject, type JsonObject } from "./readers.ts";
import { CHAT_PARAM_KEYS } from "./validate-chat.ts";

/** A streaming chat request made plain. */
export interface SanitizedChatRequest {
  request: JsonObject;
  includeUsage: boolean;
}

/** Makes a plain chat request of a streaming one: streaming settings and unknown keys go. */
export function sanitizeStreamingChat(body: JsonObject, onLoss?: OnLoss): SanitizedChatRequest {
  const options = body["stream_options"];
  const request: JsonObject = {};
  for (const key of Object.keys(body)) {
    if (key === "stream" || key === "stream_options") continue;
    if (CHAT_PARAM_KEYS.has(key)) request[key] = body[key];
    else onLoss?.({ field: key, reason: "the request schema has no such key" });
  }
  return { request, includeUsage: isObject(options) && isTruthy(options["include_usage"]) };
}
