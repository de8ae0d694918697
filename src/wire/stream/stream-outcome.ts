import { isObject } from "../../python/json/json-object.ts";
import { DONE, type SseEvent } from "./sse.ts";

/** The three ways clients speak to a model server. */
export type Dialect = "responses" | "chat" | "messages";

/** How a stream ended. */
export type StreamOutcome = "complete" | "incomplete" | "error";

const TERMINAL_TYPES: Record<Dialect, Record<string, StreamOutcome>> = {
  responses: {
    "response.completed": "complete",
    "response.incomplete": "incomplete",
    "response.failed": "error",
    error: "error",
  },
  chat: { error: "error" },
  messages: { message_stop: "complete", error: "error" },
};

/** How the stream ends with this event, or undefined where it goes on. */
export function terminalOutcome(dialect: Dialect, { event, data }: SseEvent): StreamOutcome | undefined {
  if (dialect === "chat") {
    if (data === DONE) return "complete";
    if (isObject(data) && data["error"] != null) return "error";
  }
  const type = event ?? (isObject(data) ? data["type"] : undefined);
  if (typeof type !== "string" || !Object.hasOwn(TERMINAL_TYPES[dialect], type)) return undefined;
  return TERMINAL_TYPES[dialect][type];
}

/** How a whole stream ended; undefined when it broke off without saying so. */
export function streamOutcome(dialect: Dialect, events: readonly SseEvent[]): StreamOutcome | undefined {
  for (const event of events) {
    const outcome = terminalOutcome(dialect, event);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}
