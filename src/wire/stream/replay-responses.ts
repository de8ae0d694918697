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

/** The events of one stream of the Responses API, numbered in the order they are asked for. */
export class ResponseEvents {
  readonly #namespaces: NamespaceMap;
  readonly #likeOriginal: boolean;
  readonly #output: unknown[] = [];
  #sequence = 0;

  constructor(namespaces: NamespaceMap = {}, { likeOriginal = false }: ReplayResponseOptions = {}) {
    this.#namespaces = namespaces;
    this.#likeOriginal = likeOriginal;
  }

  created(response: object): SseEvent {
    return this.#numbered("response.created", {
      response: { ...response, status: "in_progress", output: [] },
    });
  }

  /** A whole item, from its empty shell to its end. */
  *item(item: unknown): Generator<SseEvent> {
    const restored = restoreNamespace(item, this.#namespaces);
    const output_index = this.#output.push(restored) - 1;
    if (this.#likeOriginal)
      yield this.#numbered("response.output_item.done", { output_index, item: restored });
    else
      for (const [type, fields] of itemSteps(restored))
        yield this.#numbered(type, { output_index, ...fields });
  }

  /** The end; `output` where it is not the items before. */
  completed(response: JsonObject, output: readonly unknown[] = this.#output): SseEvent {
    const { usage } = response;
    const known =
      this.#likeOriginal || !isObject(usage) ? response : { ...response, usage: knownUsage(usage) };
    return this.#numbered("response.completed", { response: { ...known, output } });
  }

  failed(response: object, message: string): SseEvent {
    const error = { code: "server_error", message };
    return this.#numbered("response.failed", {
      response: { ...response, status: "failed", output: this.#output, error },
    });
  }

  #numbered(type: string, fields: JsonObject): SseEvent {
    return frame(type, this.#likeOriginal ? fields : { ...fields, sequence_number: this.#sequence++ });
  }
}

/** Replays a finished response as the stream a client of the Responses API expects. */
export function* replayResponse(
  response: object,
  namespaces: NamespaceMap = {},
  options: ReplayResponseOptions = {},
): Generator<SseEvent> {
  const source = response as JsonObject;
  const events = new ResponseEvents(namespaces, options);
  yield events.created(source);
  for (const item of Array.isArray(source["output"]) ? source["output"] : []) yield* events.item(item);
  yield events.completed(source);
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
