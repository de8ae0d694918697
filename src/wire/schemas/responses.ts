import type { JsonObject } from "../../base/python/json/door.ts";
import { readUsage, type Usage } from "../convert/usage.ts";
import type { ResponseInputItem, ResponseOutputItem, Tool, ToolChoice } from "./item-types.ts";
import {
  anything,
  bool,
  byType,
  type Fields,
  float,
  int,
  list,
  notStreaming,
  nullish,
  object,
  oneOf,
  optional,
  readWith,
  record,
  str,
  stringRecord,
  textOr,
} from "./readers.ts";
import { isTrusted, trust } from "./trusted.ts";
import { readInputItem, readOutputItem } from "./validate-items.ts";
import { readPrompt } from "./validate-parts.ts";
import { readEchoedToolChoice, readRequestTool, readResponseTool, readToolChoice } from "./validate-tools.ts";
import type { Location } from "./validation.ts";

export type { Usage } from "../convert/usage.ts";
export type * from "./item-types.ts";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const CONTEXTS = ["auto", "current_turn", "all_turns"] as const;
const SUMMARIES = ["auto", "concise", "detailed"] as const;
const VERBOSITIES = ["low", "medium", "high"] as const;
const SERVICE_TIERS = ["auto", "default", "flex", "scale", "priority"] as const;
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

/** How much the model reasons, and how much of its reasoning the answer contains. */
export interface ReasoningOptions {
  context?: (typeof CONTEXTS)[number] | null;
  mode?: string;
  effort?: (typeof EFFORTS)[number] | null;
  generate_summary?: (typeof SUMMARIES)[number] | null;
  summary?: (typeof SUMMARIES)[number] | null;
}

/** The required format of the answer. */
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

/** The format and verbosity of the answer. */
export interface TextOptions {
  format?: TextFormat;
  verbosity?: (typeof VERBOSITIES)[number] | null;
}

/** A prompt stored at the provider. */
export interface StoredPrompt {
  id: string;
  variables?: JsonObject | null;
  version?: string | null;
}

/** The body of `POST /v1/responses`. An absent key was not set; an explicit null is kept. */
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
  prompt?: StoredPrompt | null;
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

/** The state of a response. */
export type ResponseStatus = (typeof STATUSES)[number];

/** An answer of a model, or the whole trajectory of an agent, in the format of the Responses API. */
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
  prompt?: StoredPrompt | null;
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

const readInput = textOr(list(readInputItem));

const format = byType(
  {
    text: { type: str },
    json_object: { type: str },
    json_schema: { name: str, schema: record, type: str, description: optional(str), strict: nullish(bool) },
  },
  "forbid",
);

const params: Fields = {
  background: nullish(bool),
  include: nullish(list(oneOf(...INCLUDABLES))),
  input: readInput,
  instructions: nullish(str),
  max_output_tokens: nullish(int),
  max_tool_calls: nullish(int),
  metadata: nullish(stringRecord),
  model: nullish(str),
  parallel_tool_calls: optional(bool),
  previous_response_id: nullish(str),
  prompt: nullish(readPrompt),
  reasoning: nullish(
    object(
      {
        context: nullish(oneOf(...CONTEXTS)),
        mode: optional(str),
        effort: nullish(oneOf(...EFFORTS)),
        generate_summary: nullish(oneOf(...SUMMARIES)),
        summary: nullish(oneOf(...SUMMARIES)),
      },
      "forbid",
    ),
  ),
  service_tier: nullish(oneOf(...SERVICE_TIERS)),
  store: nullish(bool),
  temperature: nullish(float),
  text: nullish(object({ format: optional(format), verbosity: nullish(oneOf(...VERBOSITIES)) }, "forbid")),
  tool_choice: optional(readToolChoice),
  tools: optional(list(readRequestTool)),
  top_logprobs: nullish(int),
  top_p: nullish(float),
  truncation: nullish(oneOf(...TRUNCATIONS)),
  user: nullish(str),
  stream: nullish(notStreaming),
};

/** The top-level keys of a Responses request, in the order in which they are written. */
export const CREATE_PARAM_KEYS: readonly string[] = Object.keys(params);

/** The reader behind `parseCreateParams`, for composing larger bodies. */
export const readCreateParams = object<ResponseCreateParams>(params, "forbid");

const responseFields: Fields = {
  id: str,
  created_at: float,
  error: nullish(record),
  incomplete_details: nullish(record),
  instructions: nullish(readInput),
  metadata: nullish(stringRecord),
  model: str,
  object: oneOf("response"),
  output: list(readOutputItem),
  parallel_tool_calls: bool,
  temperature: nullish(float),
  tool_choice: readEchoedToolChoice,
  tools: list(readResponseTool),
  top_p: nullish(float),
  background: nullish(bool),
  conversation: optional(anything),
  max_output_tokens: nullish(int),
  max_tool_calls: nullish(int),
  previous_response_id: nullish(str),
  prompt: nullish(record),
  prompt_cache_key: nullish(str),
  reasoning: nullish(record),
  safety_identifier: nullish(str),
  service_tier: nullish(str),
  status: nullish(oneOf(...STATUSES)),
  text: nullish(record),
  top_logprobs: nullish(int),
  truncation: nullish(str),
  usage: nullish(readUsage),
  user: nullish(str),
};

/** The keys of a Response, in the order in which they are written. */
export const RESPONSE_KEYS: readonly string[] = Object.keys(responseFields);

/** The reader behind `parseResponse`, for composing larger bodies. */
export const readResponse = object<Response>(responseFields, "keep");

/**
 * Reads the body of a Responses request. Unknown top-level keys are rejected. Unknown fields of messages, calls, outputs
 * and reasoning are dropped. Items of hosted tools are kept unchanged.
 *
 * @example parseCreateParams({ input: "hi", made_up: 1 }, ["body"]) // throws ValidationError
 */
export function parseCreateParams(value: unknown, prefix: Location = []): ResponseCreateParams {
  if (isTrusted(value)) return value as ResponseCreateParams;
  return trust(readWith(readCreateParams, value, prefix));
}

/** Reads a Response. Unknown keys are kept. */
export function parseResponse(value: unknown, prefix: Location = []): Response {
  if (isTrusted(value)) return value as Response;
  return trust(readWith(readResponse, value, prefix));
}
