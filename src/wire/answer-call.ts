import { dumps } from "../python/json/json-dumps.ts";
import { isObject } from "../python/json/json-object.ts";
import { newId } from "./ids.ts";
import type { ChatToolCall } from "./schemas/chat-types.ts";
import { list, object, type Reader, record, str } from "./schemas/readers.ts";

/** Some engines give arguments as an object or not at all; what reaches us is always text. */
const callArguments = (value: unknown): unknown =>
  value == null ? "{}" : isObject(value) ? dumps(value) : value;

const named = object<{ name: string; arguments: string }>({ name: str, arguments: str }, "keep");

/** A function and its arguments as an engine writes them. */
export const readAnswerFunction: Reader<{ name: string; arguments: string }> = (value, trail) =>
  named(isObject(value) ? { ...value, arguments: callArguments(value["arguments"]) } : value, trail);

const functionCall = object<{ id: string }>({ id: str, function: readAnswerFunction }, "keep");

const answerCall: Reader<unknown> = (value, trail) => {
  if (!isObject(value) || value["type"] === "custom") return record(value, trail);
  const { id } = value;
  // A few engines count their calls.
  const text = id == null ? "" : Number.isInteger(id) ? String(id) : id;
  return functionCall({ ...value, id: text, type: "function" }, trail);
};

const answerCalls = list(answerCall);

/**
 * The calls of an engine's answer. Two calls of one id could not be told apart when their results come, so the later one gets an id
 * of its own.
 */
export const readAnswerCalls: Reader<ChatToolCall[]> = (value, trail) => {
  const calls = answerCalls(value, trail) as ChatToolCall[];
  const seen = new Set<string>();
  return calls?.map((call) => {
    const isTaken = call?.id ? seen.has(call.id) : false;
    if (call?.id) seen.add(call.id);
    return isTaken ? { ...call, id: newId("call") } : call;
  });
};
