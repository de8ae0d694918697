import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { newId as freshId, type NewId } from "../ids.ts";
import { itemSteps } from "./replay-item.ts";
import type { NamespaceMap } from "./sanitize-streaming-responses.ts";
import type { SseEvent } from "./sse.ts";

const USAGE_DETAILS = [
  ["input_tokens_details", "cached_tokens"],
  ["output_tokens_details", "reasoning_tokens"],
] as const;

const frame = (type: string, fields: JsonObject): SseEvent => ({ event: type, data: { type, ...fields } });

/** What a replayed stream holds. */
export interface ReplayResponseOptions {
  /** Only the events the Python original sends: no shells, no deltas, no numbers. */
  likeOriginal?: boolean;
}

/** Replays a finished response as the stream a client of the Responses API expects. */
export function* replayResponse(
  response: object,
  namespaces: NamespaceMap = {},
  { likeOriginal = false }: ReplayResponseOptions = {},
): Generator<SseEvent> {
  const source = response as JsonObject;
  const items = Array.isArray(source["output"]) ? source["output"] : [];
  const output = items.map((item: unknown) => restoreNamespace(item, namespaces));
  let sequence_number = 0;
  const numbered = (type: string, fields: JsonObject) =>
    frame(type, likeOriginal ? fields : { ...fields, sequence_number: sequence_number++ });
  yield numbered("response.created", { response: { ...source, status: "in_progress", output: [] } });
  for (const [output_index, item] of output.entries()) {
    if (likeOriginal) yield numbered("response.output_item.done", { output_index, item });
    else for (const [type, fields] of itemSteps(item)) yield numbered(type, { output_index, ...fields });
  }
  const { usage } = source;
  const completed = likeOriginal || !isObject(usage) ? source : { ...source, usage: knownUsage(usage) };
  yield numbered("response.completed", { response: { ...completed, output } });
}

/** Streaming clients insist on numbers: Codex takes a null among the details for a broken stream and asks again. */
function knownUsage(usage: JsonObject): JsonObject {
  const known = { ...usage };
  for (const [key, count] of USAGE_DETAILS) {
    const details = usage[key];
    if (isObject(details) && details[count] === null) known[key] = { ...details, [count]: 0 };
  }
  return known;
}

function restoreNamespace(item: unknown, namespaces: NamespaceMap): unknown {
  if (!isObject(item) || item["type"] !== "function_call" || typeof item["name"] !== "string") return item;
  const found = Object.hasOwn(namespaces, item["name"]) ? namespaces[item["name"]] : undefined;
  return found === undefined ? item : { ...item, name: found[1], namespace: found[0] };
}

/** Replays a backend's failure: once a stream has begun, the status 200 is sent and only an event can report it. */
export function* replayResponseFailure(message: string, newId: NewId = freshId): Generator<SseEvent> {
  const error = { code: "server_error", message };
  const response = { id: newId("resp"), object: "response", status: "failed", output: [], error };
  yield frame("response.created", { response: { ...response, status: "in_progress" } });
  yield frame("response.failed", { response });
}
