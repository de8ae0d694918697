import { isTruthy } from "../../base/python/door.ts";
import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { badValue, unsupported } from "../convert/conversion-loss.ts";
import { newId as freshId, type NewId } from "../ids.ts";
import type {
  AnthropicMessage,
  AnthropicOutputBlock,
  AnthropicToolUseBlock,
} from "../schemas/anthropic-types.ts";
import type {
  ChatAssistantMessage,
  ChatChoice,
  ChatCompletion,
  ChatFunctionCall,
  ChatToolCall,
} from "../schemas/chat-types.ts";
import { wordOf } from "../schemas/readers.ts";
import type { NamespaceMap } from "./sanitize-streaming.ts";
import { DONE, type SseEvent } from "./sse.ts";

const frame = (type: string, fields: JsonObject = {}): SseEvent => ({
  event: type,
  data: { type, ...fields },
});

const USAGE_DETAILS = [
  ["input_tokens_details", "cached_tokens"],
  ["output_tokens_details", "reasoning_tokens"],
] as const;

/** Creates the events of one stream of the Responses API and numbers them in the order of creation. */
export class ResponseEvents {
  readonly #namespaces: NamespaceMap;
  readonly #output: unknown[] = [];
  #sequence = 0;

  constructor(namespaces: NamespaceMap = {}) {
    this.#namespaces = namespaces;
  }

  created(response: object): SseEvent {
    return this.#numbered("response.created", {
      response: { ...response, status: "in_progress", output: [] },
    });
  }

  /** The events of one item, from its empty shell to its end. */
  *item(item: unknown): Generator<SseEvent> {
    const restored = restoreNamespace(item, this.#namespaces);
    const output_index = this.#output.push(restored) - 1;
    for (const [type, fields] of itemSteps(restored)) yield this.#numbered(type, { output_index, ...fields });
  }

  /** The last event of a response, whose status says whether it failed. `output` replaces the items that were sent. */
  ended(response: JsonObject, output: readonly unknown[] = this.#output): SseEvent {
    const { usage } = response;
    const known = isObject(usage) ? { ...response, usage: knownUsage(usage) } : response;
    const type = response["status"] === "failed" ? "response.failed" : "response.completed";
    return this.#numbered(type, { response: { ...known, output } });
  }

  failed(response: object, message: string): SseEvent {
    const error = { code: "server_error", message };
    return this.#numbered("response.failed", {
      response: { ...response, status: "failed", output: this.#output, error },
    });
  }

  #numbered(type: string, fields: JsonObject): SseEvent {
    return frame(type, { ...fields, sequence_number: this.#sequence++ });
  }
}

/** Replays a finished response as a stream of the Responses API. */
export function* replayResponse(response: object, namespaces: NamespaceMap = {}): Generator<SseEvent> {
  const source = response as JsonObject;
  const events = new ResponseEvents(namespaces);
  yield events.created(source);
  for (const item of Array.isArray(source["output"]) ? source["output"] : []) yield* events.item(item);
  yield events.ended(source);
}

/** Streaming clients require numbers. Codex treats a null detail as a broken stream and repeats the request. */
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

/** Replays the failure of a backend. After the status 200 was sent, only an event can report it. */
export function* replayResponseFailure(message: string, newId: NewId = freshId): Generator<SseEvent> {
  const error = { code: "server_error", message };
  const response = { id: newId("resp"), object: "response", status: "failed", output: [], error };
  yield frame("response.created", { response: { ...response, status: "in_progress" } });
  yield frame("response.failed", { response });
}

/** One event of an item: its type, and its fields without the position of the item. */
type ItemStep = [type: string, fields: JsonObject];

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * The events of an item in the Responses API: an empty shell, one delta per text, and the whole item. Clients that
 * collect deltas and clients that wait for the item get the same result.
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
    const steps: ItemStep[] = [
      ["response.output_text.delta", { delta: text, logprobs }],
      ["response.output_text.done", { text, logprobs }],
    ];
    return [{ ...part, text: "", annotations: [], logprobs: [] }, steps];
  }
  if (part["type"] === "refusal") {
    const refusal = textOf(part["refusal"]);
    const steps: ItemStep[] = [
      ["response.refusal.delta", { delta: refusal }],
      ["response.refusal.done", { refusal }],
    ];
    return [{ ...part, refusal: "" }, steps];
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

/** Options for the replay of a chat completion. */
export interface ReplayChatOptions {
  /** Whether a last chunk contains the usage, as `stream_options.include_usage` requests. */
  includeUsage?: boolean;
}

/** Replays a finished chat completion as the chunks of a stream. They contain no token ids. */
export function* replayChatCompletion(
  completion: ChatCompletion,
  { includeUsage = false }: ReplayChatOptions = {},
): Generator<SseEvent> {
  const chunk = (choices: JsonObject[], usage?: unknown): SseEvent => {
    const { id = null, created = null, model = null } = completion as Partial<ChatCompletion>;
    const data: JsonObject = { id, object: "chat.completion.chunk", created, model, choices };
    const fingerprint = (completion as unknown as JsonObject)["system_fingerprint"];
    if (fingerprint != null) data["system_fingerprint"] = fingerprint;
    if (usage !== undefined) data["usage"] = usage;
    return { event: null, data };
  };
  for (const [index, choice] of (completion.choices ?? []).entries()) {
    if (!isObject(choice)) badValue(`choices.${index} must be an object`);
    for (const delta of deltas(choice)) yield chunk([{ index, delta, finish_reason: null }]);
    yield chunk([{ index, delta: {}, finish_reason: choice.finish_reason ?? null }]);
  }
  if (includeUsage && completion.usage != null) yield chunk([], completion.usage);
  yield { event: null, data: DONE };
}

function* deltas(choice: ChatChoice): Generator<JsonObject> {
  const message: Partial<ChatAssistantMessage> = choice.message ?? {};
  yield { role: message.role || "assistant" };
  const reasoning = message.reasoning_content || message.reasoning;
  if (reasoning) yield { reasoning_content: reasoning };
  if (isTruthy(message.content)) yield { content: message.content };
  if (message.refusal) yield { refusal: message.refusal };
  const calls = message.tool_calls ?? [];
  if (calls.length > 0) yield { tool_calls: calls.map(callDelta) };
  if (message.function_call) yield { function_call: message.function_call };
}

/** Chunks have a form for function calls only. */
function callDelta(call: ChatToolCall, index: number): JsonObject {
  const { id = null, type, function: called } = call as Partial<ChatFunctionCall>;
  const { name = null, arguments: text } = called ?? {};
  return { index, id, type: type || "function", function: { name, arguments: text || "" } };
}

/** Replays a finished Messages answer as a stream, with one delta per text of a block. */
export function* replayAnthropicMessage(message: AnthropicMessage): Generator<SseEvent> {
  const { usage = {}, content = [] } = message as Partial<AnthropicMessage>;
  yield frame("message_start", { message: { ...message, content: [], usage } });
  for (const [index, block] of content.entries()) {
    const [shell, ...parts] = shellAndDeltas(block);
    yield frame("content_block_start", { index, content_block: shell });
    for (const delta of parts) yield frame("content_block_delta", { index, delta });
    yield frame("content_block_stop", { index });
  }
  const { stop_reason = null, stop_sequence = null } = message as Partial<AnthropicMessage> & {
    stop_sequence?: string | null;
  };
  const { output_tokens = 0 } = usage as Partial<AnthropicMessage["usage"]>;
  yield frame("message_delta", { delta: { stop_reason, stop_sequence }, usage: { output_tokens } });
  yield frame("message_stop");
}

function shellAndDeltas(block: AnthropicOutputBlock): [shell: JsonObject, ...deltas: JsonObject[]] {
  switch (block.type) {
    case "text": {
      const { text = "" } = block;
      return [
        { type: "text", text: "" },
        { type: "text_delta", text },
      ];
    }
    case "thinking": {
      const { thinking = "", signature = "" } = block;
      const shell = { type: "thinking", thinking: "", signature: "" };
      const delta = { type: "thinking_delta", thinking };
      // A provider accepts thinking only together with its signature.
      return signature === "" ? [shell, delta] : [shell, delta, { type: "signature_delta", signature }];
    }
    case "redacted_thinking":
      return [{ ...block }];
    case "tool_use": {
      const { id, name, input = {} } = block as Partial<AnthropicToolUseBlock>;
      if (id === undefined || name === undefined) return badValue("a tool_use block needs an id and a name");
      return [
        { type: "tool_use", id, name, input: {} },
        { type: "input_json_delta", partial_json: dumps(input) },
      ];
    }
    default:
      return unsupported(`'${wordOf((block as { type?: unknown }).type)}' blocks have no form in a stream`);
  }
}

/** Reports a failure in the middle of a Messages stream, with the error event of the API. */
export function* replayAnthropicFailure(message: string): Generator<SseEvent> {
  yield frame("error", { error: { type: "api_error", message } });
}
