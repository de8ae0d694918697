import { isObject, type JsonObject } from "../../python/json/json-object.ts";

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

/** The completion of a chat stream; null when no chunk had a choice. */
export function assembleChat(chunks: readonly JsonObject[]): JsonObject | null {
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
