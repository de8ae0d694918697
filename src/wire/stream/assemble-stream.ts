import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { wordOf } from "../schemas/readers.ts";
import { type Dialect, parseData, type SseEvent } from "./sse.ts";

const TERMINAL = new Set<unknown>(["response.completed", "response.incomplete", "response.failed"]);

/** Builds from a stream the answer that the endpoint would have sent without streaming. */
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

/** The last event of a Responses stream contains the response. An interrupted stream has only the completed items. */
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

/** The message of a Messages stream; null if neither a message nor a block was started. */
function assembleAnthropic(events: readonly JsonObject[]): JsonObject | null {
  let message: JsonObject | null = null;
  const blocks = new Map<number, JsonObject>();
  const inputs = new Map<number, string>();
  const usage: JsonObject = {};
  for (const event of events) {
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    const delta = objectOf(event["delta"]);
    switch (event["type"]) {
      case "message_start":
        message = { ...objectOf(event["message"]) };
        Object.assign(usage, objectOf(message["usage"]));
        break;
      case "content_block_start":
        blocks.set(index, { ...objectOf(event["content_block"]) });
        break;
      case "content_block_delta":
        addDelta(blocks, inputs, index, delta);
        break;
      case "message_delta":
        Object.assign(usage, objectOf(event["usage"]));
        for (const [key, value] of Object.entries(delta)) {
          if (message !== null && value != null) message[key] = value;
        }
        break;
    }
  }
  if (message === null && blocks.size === 0) return null;
  const ordered = [...blocks].sort(([left], [right]) => left - right);
  const content = ordered.map(([index, block]) => withInput(block, inputs.get(index)));
  const assembled: JsonObject = { ...message, type: "message", content };
  if (Object.keys(usage).length > 0) assembled["usage"] = usage;
  return assembled;
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const DELTAS = new Map(
  Object.entries({
    text_delta: { block: "text", field: "text" },
    thinking_delta: { block: "thinking", field: "thinking" },
    signature_delta: { block: "thinking", field: "signature" },
  }),
);

function addDelta(
  blocks: Map<number, JsonObject>,
  inputs: Map<number, string>,
  index: number,
  delta: JsonObject,
): void {
  const block = blocks.get(index) ?? {};
  blocks.set(index, block);
  if (delta["type"] === "input_json_delta") {
    inputs.set(index, (inputs.get(index) ?? "") + textOf(delta["partial_json"]));
    return;
  }
  const known = DELTAS.get(wordOf(delta["type"]));
  if (known === undefined) return;
  block["type"] ??= known.block;
  block[known.field] = textOf(block[known.field]) + textOf(delta[known.field]);
}

/** The input of a tool is streamed as JSON text. Invalid JSON is kept under `_raw`. */
function withInput(block: JsonObject, text: string | undefined): JsonObject {
  if (block["type"] !== "tool_use" || text === undefined || text === "") return block;
  const input = parseData(text);
  return { ...block, input: isObject(input) ? input : { _raw: text } };
}

interface CallSlot {
  id: unknown;
  type: string;
  function: { name: string; arguments: string };
}

interface ChoiceSlot {
  role: string;
  content: string;
  reasoning: string;
  refusal: string;
  calls: Map<number, CallSlot>;
  finishReason: unknown;
}

/** The completion of a chat stream; null if no chunk has a choice. */
function assembleChat(chunks: readonly JsonObject[]): JsonObject | null {
  const envelope: JsonObject = { object: "chat.completion" };
  const choices = new Map<number, ChoiceSlot>();
  for (const chunk of chunks) {
    for (const name of ["id", "created", "model", "usage", "system_fingerprint"]) {
      if (chunk[name] != null) envelope[name] = chunk[name];
    }
    for (const choice of listOf(chunk["choices"])) addChoice(choices, choice);
  }
  if (choices.size === 0) return null;
  const ordered = [...choices].sort(([left], [right]) => left - right);
  return { ...envelope, choices: ordered.map(([index, slot]) => finished(index, slot)) };
}

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const indexOf = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

function slotAt<T>(slots: Map<number, T>, index: number, make: () => T): T {
  const slot = slots.get(index) ?? make();
  slots.set(index, slot);
  return slot;
}

function addChoice(choices: Map<number, ChoiceSlot>, choice: JsonObject): void {
  const slot = slotAt(choices, indexOf(choice["index"], 0), () => ({
    role: "assistant",
    content: "",
    reasoning: "",
    refusal: "",
    calls: new Map(),
    finishReason: null,
  }));
  const delta = isObject(choice["delta"]) ? choice["delta"] : {};
  slot.role = textOf(delta["role"]) || slot.role;
  slot.content += textOf(delta["content"]);
  slot.reasoning += textOf(delta["reasoning_content"]) || textOf(delta["reasoning"]);
  slot.refusal += textOf(delta["refusal"]);
  for (const call of listOf(delta["tool_calls"])) addCall(slot.calls, call);
  slot.finishReason = choice["finish_reason"] ?? slot.finishReason;
}

function addCall(calls: Map<number, CallSlot>, call: JsonObject): void {
  const slot = slotAt(calls, indexOf(call["index"], 0), () => ({
    id: null,
    type: "function",
    function: { name: "", arguments: "" },
  }));
  const definition = isObject(call["function"]) ? call["function"] : {};
  if (call["id"]) slot.id = call["id"];
  slot.function.name = textOf(definition["name"]) || slot.function.name;
  slot.function.arguments += textOf(definition["arguments"]);
}

function finished(index: number, slot: ChoiceSlot): JsonObject {
  const message: JsonObject = { role: slot.role, content: slot.content === "" ? null : slot.content };
  if (slot.reasoning !== "") message["reasoning_content"] = slot.reasoning;
  if (slot.refusal !== "") message["refusal"] = slot.refusal;
  if (slot.calls.size > 0) {
    message["tool_calls"] = [...slot.calls].sort(([left], [right]) => left - right).map(([, call]) => call);
  }
  return { index, message, finish_reason: slot.finishReason };
}
