import { isObject, type JsonObject } from "../../python/json/json-object.ts";

const TERMINAL = new Set<unknown>(["response.completed", "response.incomplete", "response.failed"]);

/** The response of a Responses stream: the last event carries it whole; a broken stream gives the items that were done. */
export function assembleResponses(events: readonly JsonObject[]): JsonObject | null {
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
