import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { readAnswerCalls, readAnswerFunction } from "../answer-call.ts";
import { numericCounts } from "../convert/usage.ts";
import type { ChatAssistantMessage, ChatChoice, ChatCompletion } from "./chat-types.ts";
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
