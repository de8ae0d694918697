import { dumps } from "../../python/json/json-dumps.ts";
import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { numericCounts } from "../convert/usage.ts";
import { newId } from "../ids.ts";
import type { ChatAssistantMessage, ChatChoice, ChatCompletion, ChatToolCall } from "./chat-types.ts";
import {
  byType,
  float,
  int,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  record,
  refuse,
  str,
} from "./readers.ts";
import { readTokens } from "./validate-tokens.ts";
import type { Location } from "./validation.ts";

/** Some engines give arguments as an object or not at all; what reaches us is always text. */
const callArguments = (value: unknown): unknown =>
  value == null ? "{}" : isObject(value) ? dumps(value) : value;

const answerFunction = object<{ name: string; arguments: string }>({ name: str, arguments: str }, "keep");

/** A function and its arguments as an engine writes them. */
const readAnswerFunction: Reader<{ name: string; arguments: string }> = (value, trail) =>
  answerFunction(isObject(value) ? { ...value, arguments: callArguments(value["arguments"]) } : value, trail);

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
const readAnswerCalls: Reader<ChatToolCall[]> = (value, trail) => {
  const calls = answerCalls(value, trail) as ChatToolCall[];
  const seen = new Set<string>();
  return calls?.map((call) => {
    const isTaken = call?.id ? seen.has(call.id) : false;
    if (call?.id) seen.add(call.id);
    return isTaken ? { ...call, id: newId("call") } : call;
  });
};

const answerContent: Reader<unknown> = (value, trail) =>
  typeof value === "string" ? value : list(record)(value, trail);

const answerMessage = object<ChatAssistantMessage>(
  {
    content: optional(nullable(answerContent)),
    tool_calls: optional(nullable(readAnswerCalls)),
    function_call: optional(nullable(readAnswerFunction)),
  },
  "keep",
);
const choice = object<ChatChoice>({ message: answerMessage, finish_reason: optional(nullable(str)) }, "keep");
const choiceList = list(choice);

/** The choice with index 0 comes first, wherever it is in the list. */
const choices: Reader<ChatChoice[]> = (value, trail) => {
  const read = choiceList(value, trail);
  if (read?.length === 0) return refuse(trail, "too_short", "List should have at least 1 item", value);
  const isNumbered = read?.every((each) => Number.isInteger(each?.index));
  return isNumbered ? [...read].sort((left, right) => left.index - right.index) : read;
};

const answerUsage: Reader<JsonObject> = (value, trail) => numericCounts(record(value, trail));

const readCompletion = object<ChatCompletion>({ choices, usage: optional(nullable(answerUsage)) }, "keep");

const count = optional(nullable(int));
const maybeText = optional(nullable(str));
const strictUsage = object(
  {
    completion_tokens: int,
    prompt_tokens: int,
    total_tokens: int,
    completion_tokens_details: optional(
      nullable(
        object(
          {
            accepted_prediction_tokens: count,
            audio_tokens: count,
            reasoning_tokens: count,
            rejected_prediction_tokens: count,
          },
          "keep",
        ),
      ),
    ),
    prompt_tokens_details: optional(
      nullable(object({ audio_tokens: count, cached_tokens: count, cache_write_tokens: count }, "keep")),
    ),
  },
  "keep",
);
const strictLogprobs = optional(
  nullable(
    list(
      object(
        {
          token: str,
          bytes: optional(nullable(list(int))),
          logprob: float,
          top_logprobs: list(
            object({ token: str, bytes: optional(nullable(list(int))), logprob: float }, "keep"),
          ),
        },
        "keep",
      ),
    ),
  ),
);
const named = { name: str, arguments: str };
const strictCall = byType<unknown>({
  function: object({ id: str, type: str, function: object(named, "drop") }, "keep"),
  custom: object({ id: str, type: str, custom: object({ name: str, input: str }, "keep") }, "keep"),
});
const strictFields = object<ChatAssistantMessage>(
  {
    content: maybeText,
    refusal: maybeText,
    role: oneOf("assistant"),
    annotations: optional(nullable(list(record))),
    audio: optional(nullable(record)),
    function_call: optional(nullable(object(named, "keep"))),
    tool_calls: optional(nullable(list(strictCall))),
  },
  "keep",
);
const strictMessage: Reader<ChatAssistantMessage> = (value, trail) => {
  const message = strictFields(value, trail);
  const tokens = isObject(value) ? readTokens(value, trail) : undefined;
  return tokens === undefined ? message : { ...message, ...tokens };
};
const strictChoice = object<ChatChoice>(
  {
    finish_reason: oneOf("stop", "length", "tool_calls", "content_filter", "function_call"),
    index: int,
    logprobs: optional(nullable(object({ content: strictLogprobs, refusal: strictLogprobs }, "keep"))),
    message: strictMessage,
  },
  "keep",
);
const readStrictCompletion = object<ChatCompletion>(
  {
    id: str,
    choices: list(strictChoice),
    created: int,
    model: str,
    object: oneOf("chat.completion"),
    service_tier: optional(nullable(oneOf("auto", "default", "flex", "scale", "priority", "fast"))),
    system_fingerprint: maybeText,
    usage: optional(nullable(strictUsage)),
  },
  "keep",
);

/** How an answer is read. */
export interface ChatCompletionOptions {
  /** Refuse what the Python original refuses: answers that lack what the API always sends. */
  refuseLikeOriginal?: boolean;
}

/** Reads a chat endpoint's answer: a first choice with a message must be there, everything else is kept as it came. */
export function parseChatCompletion(
  value: unknown,
  prefix: Location = [],
  { refuseLikeOriginal = false }: ChatCompletionOptions = {},
): ChatCompletion {
  return readWith(refuseLikeOriginal ? readStrictCompletion : readCompletion, value, prefix);
}
