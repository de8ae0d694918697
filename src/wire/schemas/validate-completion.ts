import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { numericCounts } from "../convert/usage.ts";
import { newId } from "../ids.ts";
import type { ChatAssistantMessage, ChatChoice, ChatCompletion, ChatToolCall } from "./chat-types.ts";
import { list, nullish, object, type Reader, readWith, record, reject, str, textOr } from "./readers.ts";
import type { Location } from "./validation.ts";

/** Some engines send the arguments as an object, or none. The result is always text. */
const callArguments = (value: unknown): unknown =>
  value == null ? "{}" : isObject(value) ? dumps(value) : value;

const answerFunction = object<{ name: string; arguments: string }>({ name: str, arguments: str }, "keep");

const readAnswerFunction: Reader<{ name: string; arguments: string }> = (value, trail) =>
  answerFunction(isObject(value) ? { ...value, arguments: callArguments(value["arguments"]) } : value, trail);

const functionCall = object<{ id: string }>({ id: str, function: readAnswerFunction }, "keep");

const answerCall: Reader<unknown> = (value, trail) => {
  if (!isObject(value) || value["type"] === "custom") return record(value, trail);
  const { id } = value;
  // Some engines number their calls.
  const text = id == null ? "" : Number.isInteger(id) ? String(id) : id;
  return functionCall({ ...value, id: text, type: "function" }, trail);
};

const answerCalls = list(answerCall);

/** The calls of an answer. If two calls have the same id, the later one gets a new id, so that results can be assigned. */
const readAnswerCalls: Reader<ChatToolCall[]> = (value, trail) => {
  const calls = answerCalls(value, trail) as ChatToolCall[];
  const seen = new Set<string>();
  return calls?.map((call) => {
    const isTaken = call?.id ? seen.has(call.id) : false;
    if (call?.id) seen.add(call.id);
    return isTaken ? { ...call, id: newId("call") } : call;
  });
};

const answerMessage = object<ChatAssistantMessage>(
  {
    content: nullish(textOr(list(record))),
    tool_calls: nullish(readAnswerCalls),
    function_call: nullish(readAnswerFunction),
  },
  "keep",
);
const choice = object<ChatChoice>({ message: answerMessage, finish_reason: nullish(str) }, "keep");
const choiceList = list(choice);

/** Sorts the choices by their index, if all of them have one. */
const choices: Reader<ChatChoice[]> = (value, trail) => {
  const read = choiceList(value, trail);
  if (read?.length === 0) return reject(trail, "too_short", "List should have at least 1 item", value);
  const isNumbered = read?.every((each) => Number.isInteger(each?.index));
  return isNumbered ? [...read].sort((left, right) => left.index - right.index) : read;
};

const answerUsage: Reader<JsonObject> = (value, trail) => numericCounts(record(value, trail));

const readCompletion = object<ChatCompletion>({ choices, usage: nullish(answerUsage) }, "keep");

/**
 * Reads the answer of a chat endpoint. Only a first choice with a message is required; everything else is kept as it
 * was sent.
 */
export function parseChatCompletion(value: unknown, prefix: Location = []): ChatCompletion {
  return readWith(readCompletion, value, prefix);
}
