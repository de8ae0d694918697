import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { newId as freshId, type NewId } from "../ids.ts";
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

/** One step of an item on its way to the client: the event's type and its fields beside the item's place. */
export type ItemStep = [type: string, fields: JsonObject];

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * The steps in which the Responses API streams an item: an empty shell, each of its texts as one delta, and the whole item. Clients
 * that collect the deltas and clients that wait for the item end up with the same.
 */
function* itemSteps(item: unknown): Generator<ItemStep> {
  const [shell, steps] = isObject(item) ? partsOf(item) : [item, []];
  yield ["response.output_item.added", { item: shell }];
  const item_id = isObject(item) ? textOf(item["id"]) : "";
  for (const [type, fields] of steps) yield [type, { item_id, ...fields }];
  yield ["response.output_item.done", { item }];
}

function partsOf(item: JsonObject): [shell: JsonObject, steps: Iterable<ItemStep>] {
  switch (item["type"]) {
    case "message":
      if (!Array.isArray(item["content"])) break;
      return [{ ...item, status: "in_progress", content: [] }, contentSteps(item["content"])];
    case "reasoning":
      if (!Array.isArray(item["summary"])) break;
      return [{ ...item, summary: [] }, summarySteps(item["summary"])];
    case "function_call":
      return [{ ...item, status: "in_progress", arguments: "" }, argumentSteps(item)];
  }
  return [item, []];
}

function* contentSteps(content: readonly unknown[]): Generator<ItemStep> {
  for (const [content_index, part] of content.entries()) {
    const [shell, steps] = partSteps(part);
    yield ["response.content_part.added", { content_index, part: shell }];
    for (const [type, fields] of steps) yield [type, { content_index, ...fields }];
    yield ["response.content_part.done", { content_index, part }];
  }
}

function partSteps(part: unknown): [shell: unknown, steps: ItemStep[]] {
  if (!isObject(part)) return [part, []];
  if (part["type"] === "output_text") {
    const text = textOf(part["text"]);
    const logprobs = Array.isArray(part["logprobs"]) ? part["logprobs"] : [];
    const shell = { ...part, text: "", annotations: [], logprobs: [] };
    return [
      shell,
      [
        ["response.output_text.delta", { delta: text, logprobs }],
        ["response.output_text.done", { text, logprobs }],
      ],
    ];
  }
  if (part["type"] === "refusal") {
    const refusal = textOf(part["refusal"]);
    const shell = { ...part, refusal: "" };
    return [
      shell,
      [
        ["response.refusal.delta", { delta: refusal }],
        ["response.refusal.done", { refusal }],
      ],
    ];
  }
  return [part, []];
}

function* summarySteps(summary: readonly unknown[]): Generator<ItemStep> {
  for (const [summary_index, part] of summary.entries()) {
    const text = isObject(part) ? textOf(part["text"]) : "";
    const shell = isObject(part) ? { ...part, text: "" } : part;
    yield ["response.reasoning_summary_part.added", { summary_index, part: shell }];
    yield ["response.reasoning_summary_text.delta", { summary_index, delta: text }];
    yield ["response.reasoning_summary_text.done", { summary_index, text }];
    yield ["response.reasoning_summary_part.done", { summary_index, part }];
  }
}

function* argumentSteps(item: JsonObject): Generator<ItemStep> {
  const text = textOf(item["arguments"]);
  yield ["response.function_call_arguments.delta", { delta: text }];
  yield ["response.function_call_arguments.done", { name: textOf(item["name"]), arguments: text }];
}
