import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { assembleAnthropic } from "./assemble-anthropic.ts";
import { assembleChat } from "./assemble-chat.ts";
import type { SseEvent } from "./sse.ts";
import type { Dialect } from "./stream-outcome.ts";

const TERMINAL = new Set<unknown>(["response.completed", "response.incomplete", "response.failed"]);

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

/** The response of a Responses stream: the last event carries it whole; a broken stream gives the items that were done. */
function assembleResponses(events: readonly JsonObject[]): JsonObject | null {
  let shell: JsonObject | null = null;
  const items = new Map<number, unknown>();
  for (const event of events) {
    const response = event["response"];
    if (isObject(response)) {
      shell = response;
      if (TERMINAL.has(event["type"])) return response;
    }
    if (event["type"] === "response.output_item.done") {
      const index = event["output_index"];
      items.set(typeof index === "number" ? index : items.size, event["item"]);
    }
  }
  if (shell === null) return null;
  if (items.size === 0) return shell;
  const output = [...items].sort(([left], [right]) => left - right).map(([, item]) => item);
  return { ...shell, output };
}
