import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { isTruthy } from "../../python/truth.ts";
import type { OnLoss } from "../convert/conversion-loss.ts";
import { CHAT_PARAM_KEYS } from "../schemas/validate-chat.ts";

/** A streaming chat request without its streaming options. */
export interface SanitizedChatRequest {
  request: JsonObject;
  includeUsage: boolean;
}

/** How a streaming chat request is made plain. */
export interface SanitizeChatOptions {
  /** Drop unknown keys, as the Python original does. */
  likeOriginal?: boolean;
  onLoss?: OnLoss;
}

/** Makes a plain chat request of a streaming one: the streaming settings go. */
export function sanitizeStreamingChat(
  body: JsonObject,
  { likeOriginal = false, onLoss }: SanitizeChatOptions = {},
): SanitizedChatRequest {
  const options = body["stream_options"];
  const request: JsonObject = {};
  for (const key of Object.keys(body)) {
    if (key === "stream" || key === "stream_options") continue;
    if (!likeOriginal || CHAT_PARAM_KEYS.has(key)) request[key] = body[key];
    else onLoss?.({ field: key, reason: "the request schema has no such key" });
  }
  return { request, includeUsage: isObject(options) && isTruthy(options["include_usage"]) };
}
