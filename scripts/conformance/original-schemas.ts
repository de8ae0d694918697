import { isObject } from "../../src/base/python/json/json-object.ts";
import type { Usage } from "../../src/wire/convert/usage.ts";
import type { ChatAssistantMessage, ChatChoice, ChatCompletion } from "../../src/wire/schemas/chat-types.ts";
import type { Tool } from "../../src/wire/schemas/item-types.ts";
import {
  bool,
  byType,
  float,
  int,
  list,
  nullable,
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  record,
  str,
  type Trail,
} from "../../src/wire/schemas/readers.ts";
import { parseResponse as parseAny, type Response } from "../../src/wire/schemas/responses.ts";
import { readTokens } from "../../src/wire/schemas/validate-items.ts";
import { readToolChoice, toolChoiceReader, toolReader } from "../../src/wire/schemas/validate-tools.ts";

const details = (name: string) => object({ [name]: nullable(int) }, "keep");

/** Reads the usage of a Response as the original does: every count and every detail is required. */
export const readUsage: Reader<Usage> = object<Usage>(
  {
    input_tokens: int,
    input_tokens_details: details("cached_tokens"),
    output_tokens: int,
    output_tokens_details: details("reasoning_tokens"),
    total_tokens: int,
  },
  "keep",
);

const errorCode = oneOf(
  "server_error",
  "rate_limit_exceeded",
  "invalid_prompt",
  "vector_store_timeout",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
);
const format = byType<unknown>({
  text: record,
  json_object: record,
  json_schema: object({ name: str, schema: record }, "keep"),
});
const tool = toolReader("keep");
const functionTool = object<Tool>(
  {
    name: str,
    parameters: nullish(record),
    strict: nullish(bool),
    description: nullish(str),
    defer_loading: optional(bool),
    allowed_callers: nullish(list(oneOf("direct", "programmatic"))),
    output_schema: nullish(record),
  },
  "keep",
);
const choiceObject = toolChoiceReader("keep");

const serviceTier = oneOf("auto", "default", "flex", "scale", "priority", "fast");

/** Checks the fields in which the original is stricter than `parseResponse`. */
const strictFields = object(
  {
    error: nullish(object({ code: errorCode, message: str }, "keep")),
    incomplete_details: nullish(
      object({ reason: nullish(oneOf("max_output_tokens", "content_filter")) }, "keep"),
    ),
    tool_choice: (value: unknown, trail: Trail) =>
      isObject(value) ? choiceObject(value, trail) : readToolChoice(value, trail),
    tools: list((value, trail) =>
      isObject(value) && value["type"] === "function" ? functionTool(value, trail) : tool(value, trail),
    ),
    reasoning: nullish(
      object({ effort: nullish(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")) }, "keep"),
    ),
    service_tier: nullish(serviceTier),
    text: nullish(object({ format: nullish(format) }, "keep")),
    truncation: nullish(oneOf("auto", "disabled")),
    usage: nullish(readUsage),
  },
  "keep",
);

export const parseResponse = (value: unknown): Response => parseAny(readWith(strictFields, value, []));

const usage = object(
  {
    completion_tokens: int,
    prompt_tokens: int,
    total_tokens: int,
    completion_tokens_details: nullish(
      object(
        {
          accepted_prediction_tokens: nullish(int),
          audio_tokens: nullish(int),
          reasoning_tokens: nullish(int),
          rejected_prediction_tokens: nullish(int),
        },
        "keep",
      ),
    ),
    prompt_tokens_details: nullish(
      object(
        { audio_tokens: nullish(int), cached_tokens: nullish(int), cache_write_tokens: nullish(int) },
        "keep",
      ),
    ),
  },
  "keep",
);
const token = { token: str, bytes: nullish(list(int)), logprob: float };
const logprobs = nullish(list(object({ ...token, top_logprobs: list(object(token, "keep")) }, "keep")));
const named = { name: str, arguments: str };
const call = byType<unknown>({
  function: object({ id: str, type: str, function: object(named) }, "keep"),
  custom: object({ id: str, type: str, custom: object({ name: str, input: str }, "keep") }, "keep"),
});
const messageFields = object<ChatAssistantMessage>(
  {
    content: nullish(str),
    refusal: nullish(str),
    role: oneOf("assistant"),
    annotations: nullish(list(record)),
    audio: nullish(record),
    function_call: nullish(object(named, "keep")),
    tool_calls: nullish(list(call)),
  },
  "keep",
);
const message: Reader<ChatAssistantMessage> = (value, trail) => {
  const fields = messageFields(value, trail);
  const tokens = isObject(value) ? readTokens(value, trail) : undefined;
  return tokens === undefined ? fields : { ...fields, ...tokens };
};
const choice = object<ChatChoice>(
  {
    finish_reason: oneOf("stop", "length", "tool_calls", "content_filter", "function_call"),
    index: int,
    logprobs: nullish(object({ content: logprobs, refusal: logprobs }, "keep")),
    message,
  },
  "keep",
);
const completion = object<ChatCompletion>(
  {
    id: str,
    choices: list(choice),
    created: int,
    model: str,
    object: oneOf("chat.completion"),
    service_tier: nullish(serviceTier),
    system_fingerprint: nullish(str),
    usage: nullish(usage),
  },
  "keep",
);

/** Reads a chat completion as the original does: every field that the API always sends is required. */
export const parseChatCompletion = (value: unknown): ChatCompletion => readWith(completion, value, []);
