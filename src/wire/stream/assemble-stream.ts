import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { assembleAnthropic } from "./assemble-anthropic.ts";
import { assembleChat } from "./assemble-chat.ts";
import { assembleResponses } from "./assemble-responses.ts";
import type { SseEvent } from "./sse.ts";
import type { Dialect } from "./stream-outcome.ts";

/** Puts a streamed answer together again as the one object the endpoint would have given without streaming. */
export function assembleStream(dialect: Dialect, events: readonly SseEvent[]): JsonObject | null {
  const payloads = events.map(({ data }) => data).filter(isObject);
  switch (dialect) {
    case "responses":
      return assembleResponses(payloads);
    case "chat":
      return assembleChat(payloads);
    case "messages":
      return assembleAnthropic(payloads);
  }
}
