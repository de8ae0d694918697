import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { readStrictUsage, readUsage, type Usage } from "../convert/usage.ts";
import type { ResponseInputItem, ResponseOutputItem } from "./item-types.ts";
import {
  anything,
  bool,
  byType,
  type Fields,
  float,
  int,
  list,
  notStreaming,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  record,
  str,
  stringRecord,
} from "./readers.ts";
import type { Tool, ToolChoice } from "./tool-types.ts";
import { isTrusted, trust } from "./trusted.ts";
import { readInputItem, readOutputItem } from "./validate-items.ts";
import { readPrompt } from "./validate-parts.ts";
import {
  readEchoedToolChoice,
  readLooseToolChoice,
  readRequestTool,
  readResponseTool,
  readStrictResponseTool,
  readToolChoice,
} from "./validate-tools.ts";
import type { Location } from "./validation.ts";

export type { Usage } from "../convert/usage.ts";
export type * from "./item-types.ts";
export type * from "./tool-types.ts";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const CONTEXTS = ["auto", "current_turn", "all_turns"] as const;
const SUMMARIES = ["auto", "concise", "detailed"] as const;
const VERBOSITIES = ["low", "medium", "high"] as const;
const SERVICE_TIERS = ["auto", "default", "flex", "scale", "priority"] as const;
const ERROR_CODES = [
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
] as const;
const TRUNCATIONS = ["auto", "disabled"] as const;
const STATUSES = ["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"] as const;
const INCLUDABLES = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
] as const;

/** How much the model reasons, and how much of it the answer shows. */
export interface ReasoningOptions {
  context?: (typeof CONTEXTS)[number] | null;
  mode?: string;
  effort?: (typeof EFFORTS)[number] | null;
  generate_summary?: (typeof SUMMARIES)[number] | null;
  summary?: (typeof SUMMARIES)[number] | null;
}

/** The form the answer must have. */
export type TextFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      name: string;
      schema: JsonObject;
      description?: string;
      strict?: boolean | null;
    };

/** The form and length of the answer. */
export interface TextOptions {
  format?: TextFormat;
  verbosity?: (typeof VERBOSITIES)[number] | null;
}

/** A prompt stored at the provider. */
export interface PromptTemplate {
  id: string;
  variables?: JsonObject | null;
  version?: string | null;
}

/** The body of `POST /v1/responses`: a key that is absent was not set; an explicit null is kept. */
export interface ResponseCreateParams {
  input: string | ResponseInputItem[];
  background?: boolean | null;
  include?: (typeof INCLUDABLES)[number][] | null;
  instructions?: string | null;
  max_output_tokens?: number | null;
  max_tool_calls?: number | null;
  metadata?: Record<string, string> | null;
  model?: string | null;
  parallel_tool_calls?: boolean;
  previous_response_id?: string | null;
  prompt?: PromptTemplate | null;
  reasoning?: ReasoningOptions | null;
  service_tier?: (typeof SERVICE_TIERS)[number] | null;
  store?: boolean | null;
  temperature?: number | null;
  text?: TextOptions | null;
  tool_choice?: ToolChoice;
  tools?: Tool[];
  top_logprobs?: number | null;
  top_p?: number | null;
  truncation?: (typeof TRUNCATIONS)[number] | null;
  user?: string | null;
  stream?: false | null;
}

/** How far a response has come. */
export type ResponseStatus = (typeof STATUSES)[number];

/** A finished model answer, or an agent's whole trajectory, in the shape of the Responses API. */
export interface Response {
  id: string;
  created_at: number;
  model: string;
  object: "response";
  output: ResponseOutputItem[];
  parallel_tool_calls: boolean;
  tool_choice: ToolChoice;
  tools: Tool[];
  error?: { code: string; message: string } | null;
  incomplete_details?: { reason?: string | null } | null;
  instructions?: string | ResponseInputItem[] | null;
  metadata?: Record<string, string> | null;
  temperature?: number | null;
  top_p?: number | null;
  background?: boolean | null;
  conversation?: JsonObject | null;
  max_output_tokens?: number | null;
  max_tool_calls?: number | null;
  previous_response_id?: string | null;
  prompt?: PromptTemplate | null;
  prompt_cache_key?: string | null;
  reasoning?: ReasoningOptions | null;
  safety_identifier?: string | null;
  service_tier?: string | null;
  status?: ResponseStatus | null;
  text?: TextOptions | null;
  top_logprobs?: number | null;
  truncation?: string | null;
  usage?: Usage | null;
  user?: string | null;
}

const inputItems = list(readInputItem);
const readInput: Reader<string | ResponseInputItem[]> = (value, trail) =>
  typeof value === "string" ? value : inputItems(value, trail);

const format = byType<unknown>({
  text: object({ type: str }, "forbid"),
  json_object: object({ type: str }, "forbid"),
  json_schema: object(
    { name: str, schema: record, type: str, description: optional(str), strict: optional(nullable(bool)) },
    "forbid",
  ),
});

const looseFormat = byType<unknown>({
  text: record,
  json_object: record,
  json_schema: object({ name: str, schema: record }, "keep"),
});

const params: Fields = {
  background: optional(nullable(bool)),
  include: optional(nullable(list(oneOf(...INCLUDABLES)))),
  input: readInput,
  instructions: optional(nullable(str)),
  max_output_tokens: optional(nullable(int)),
  max_tool_calls: optional(nullable(int)),
  metadata: optional(nullable(stringRecord)),
  model: optional(nullable(str)),
  parallel_tool_calls: optional(bool),
  previous_response_id: optional(nullable(str)),
  prompt: optional(nullable(readPrompt)),
  reasoning: optional(
    nullable(
      object(
        {
          context: optional(nullable(oneOf(...CONTEXTS))),
          mode: optional(str),
          effort: optional(nullable(oneOf(...EFFORTS))),
          generate_summary: optional(nullable(oneOf(...SUMMARIES))),
          summary: optional(nullable(oneOf(...SUMMARIES))),
        },
        "forbid",
      ),
    ),
  ),
  service_tier: optional(nullable(oneOf(...SERVICE_TIERS))),
  store: optional(nullable(bool)),
  temperature: optional(nullable(float)),
  text: optional(
    nullable(
      object({ format: optional(format), verbosity: optional(nullable(oneOf(...VERBOSITIES))) }, "forbid"),
    ),
  ),
  tool_choice: optional(readToolChoice),
  tools: optional(list(readRequestTool)),
  top_logprobs: optional(nullable(int)),
  top_p: optional(nullable(float)),
  truncation: optional(nullable(oneOf(...TRUNCATIONS))),
  user: optional(nullable(str)),
  stream: optional(nullable(notStreaming)),
};

/** The top-level keys a Responses request may have, in the order they are written. */
export const CREATE_PARAM_KEYS: readonly string[] = Object.keys(params);

/** The reader behind `parseCreateParams`, for composing larger bodies. */
export const readCreateParams = object<ResponseCreateParams>(params, "forbid");

const responseFields: Fields = {
  id: str,
  created_at: float,
  error: optional(nullable(record)),
  incomplete_details: optional(nullable(record)),
  instructions: optional(nullable(readInput)),
  metadata: optional(nullable(stringRecord)),
  model: str,
  object: oneOf("response"),
  output: list(readOutputItem),
  parallel_tool_calls: bool,
  temperature: optional(nullable(float)),
  tool_choice: readEchoedToolChoice,
  tools: list(readResponseTool),
  top_p: optional(nullable(float)),
  background: optional(nullable(bool)),
  conversation: optional(anything),
  max_output_tokens: optional(nullable(int)),
  max_tool_calls: optional(nullable(int)),
  previous_response_id: optional(nullable(str)),
  prompt: optional(nullable(record)),
  prompt_cache_key: optional(nullable(str)),
  reasoning: optional(nullable(record)),
  safety_identifier: optional(nullable(str)),
  service_tier: optional(nullable(str)),
  status: optional(nullable(oneOf(...STATUSES))),
  text: optional(nullable(record)),
  top_logprobs: optional(nullable(int)),
  truncation: optional(nullable(str)),
  usage: optional(nullable(readUsage)),
  user: optional(nullable(str)),
};

/** The keys of a Response on the wire, in the order they are written. */
export const RESPONSE_KEYS: readonly string[] = Object.keys(responseFields);

const choiceLikeRequest: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? readLooseToolChoice(value, trail) : readToolChoice(value, trail);

/** What the Python original requires of a Response beyond `responseFields`. */
const strictFields: Fields = {
  ...responseFields,
  error: optional(nullable(object({ code: oneOf(...ERROR_CODES), message: str }, "keep"))),
  incomplete_details: optional(
    nullable(object({ reason: optional(nullable(oneOf("max_output_tokens", "content_filter"))) }, "keep")),
  ),
  tool_choice: choiceLikeRequest,
  tools: list(readStrictResponseTool),
  reasoning: optional(nullable(object({ effort: optional(nullable(oneOf(...EFFORTS))) }, "keep"))),
  service_tier: optional(nullable(oneOf(...SERVICE_TIERS, "fast"))),
  text: optional(nullable(object({ format: optional(nullable(looseFormat)) }, "keep"))),
  truncation: optional(nullable(oneOf(...TRUNCATIONS))),
  usage: optional(nullable(readStrictUsage)),
};
const readStrictResponse = object<Response>(strictFields, "keep");

/** The reader behind `parseResponse`, for composing larger bodies. */
export const readResponse = object<Response>(responseFields, "keep");

/**
 * Reads the body of a Responses request strictly: an unknown top-level key is refused, unknown fields of messages,
 * calls, outputs and reasoning are dropped, hosted items are kept whole.
 *
 * @example parseCreateParams({ input: "hi", made_up: 1 }, ["body"]) // throws ValidationError
 */
export function parseCreateParams(value: unknown, prefix: Location = []): ResponseCreateParams {
  if (isTrusted(value)) return value as ResponseCreateParams;
  return trust(readWith(readCreateParams, value, prefix));
}

/** How a Response is read. */
export interface ParseResponseOptions {
  /** Refuse what the Python original refuses: usage without details, unknown words in closed lists. */
  refuseLikeOriginal?: boolean;
}

/** Reads a Response as `/verify` requires it; keys it does not know are kept. */
export function parseResponse(
  value: unknown,
  prefix: Location = [],
  { refuseLikeOriginal = false }: ParseResponseOptions = {},
): Response {
  if (refuseLikeOriginal) return readWith(readStrictResponse, value, prefix);
  if (isTrusted(value)) return value as Response;
  return trust(readWith(readResponse, value, prefix));
}
