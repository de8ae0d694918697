import type { z } from "zod";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { jsonSchemaOf } from "./openapi.ts";

/**
 * JSON Schema of request and response bodies that all servers of a type share, for `/openapi.json`. The readers in `wire`
 * decide what is accepted; this is documentation for clients.
 *
 * @module
 */
const text = { type: "string" };
const number = { type: "number" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
const anyObject = { type: "object", additionalProperties: true };
const items = { type: "array", items: anyObject };
const texts = { type: "object", additionalProperties: text };
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const choice = { anyOf: [text, anyObject] };
const textOrItems = { anyOf: [text, items] };

const ResponseCreateParams = {
  type: "object",
  description: "The body of a request to the Responses API.",
  required: ["input"],
  additionalProperties: false,
  properties: {
    background: orNull(boolean),
    include: orNull({ type: "array", items: text }),
    input: textOrItems,
    instructions: orNull(text),
    max_output_tokens: orNull(integer),
    max_tool_calls: orNull(integer),
    metadata: orNull(texts),
    model: orNull(text),
    parallel_tool_calls: boolean,
    previous_response_id: orNull(text),
    prompt: orNull(anyObject),
    reasoning: orNull(anyObject),
    service_tier: orNull(text),
    store: orNull(boolean),
    temperature: orNull(number),
    text: orNull(anyObject),
    tool_choice: choice,
    tools: items,
    top_logprobs: orNull(integer),
    top_p: orNull(number),
    truncation: orNull(text),
    user: orNull(text),
    stream: orNull({ ...boolean, description: "Model servers stream; agents answer whole." }),
  },
};

const Response = {
  type: "object",
  description: "A Response of the Responses API.",
  required: ["id", "created_at", "model", "object", "output", "parallel_tool_calls", "tool_choice", "tools"],
  additionalProperties: true,
  properties: {
    id: text,
    created_at: number,
    error: orNull(anyObject),
    incomplete_details: orNull(anyObject),
    instructions: orNull(textOrItems),
    metadata: orNull(texts),
    model: text,
    object: { const: "response" },
    output: items,
    parallel_tool_calls: boolean,
    temperature: orNull(number),
    tool_choice: choice,
    tools: items,
    top_p: orNull(number),
    background: orNull(boolean),
    conversation: {},
    max_output_tokens: orNull(integer),
    max_tool_calls: orNull(integer),
    previous_response_id: orNull(text),
    prompt: orNull(anyObject),
    prompt_cache_key: orNull(text),
    reasoning: orNull(anyObject),
    safety_identifier: orNull(text),
    service_tier: orNull(text),
    status: orNull(text),
    text: orNull(anyObject),
    top_logprobs: orNull(integer),
    truncation: orNull(text),
    usage: orNull(anyObject),
    user: orNull(text),
  },
};

const VerifyResponse = {
  type: "object",
  description: "A scored rollout, with all other fields of the verifier.",
  required: ["responses_create_params", "response", "reward"],
  additionalProperties: true,
  properties: {
    responses_create_params: { $ref: "#/components/schemas/ResponseCreateParams" },
    response: { $ref: "#/components/schemas/Response" },
    reward: { anyOf: [number, boolean, { type: "null" }] },
  },
};

/** Names as in the Python original. */
export const WIRE_SCHEMAS = {
  ResponseCreateParams,
  Response,
  VerifyResponse,
  ResetResponse: {
    type: "object",
    required: ["observation", "info"],
    properties: { observation: orNull(text), info: anyObject },
  },
  StepResponse: {
    type: "object",
    required: ["observation", "reward", "terminated", "truncated", "info"],
    properties: {
      observation: orNull(text),
      reward: { anyOf: [number, boolean] },
      terminated: boolean,
      truncated: boolean,
      info: anyObject,
    },
  },
  AggregateMetricsRequest: {
    type: "object",
    required: ["verify_responses"],
    properties: { verify_responses: items },
  },
  AggregateMetrics: {
    type: "object",
    required: ["group_level_metrics", "agent_metrics", "key_metrics"],
    properties: { group_level_metrics: items, agent_metrics: anyObject, key_metrics: anyObject },
  },
  ChatCompletionRequest: {
    type: "object",
    description: "The body of a request to the Chat Completions API; its other fields as there.",
    required: ["messages"],
    additionalProperties: true,
    properties: { messages: items, model: orNull(text), tools: orNull(items), stream: orNull(boolean) },
  },
  ChatCompletion: {
    type: "object",
    required: ["id", "choices", "created", "model", "object"],
    additionalProperties: true,
    properties: {
      id: text,
      choices: items,
      created: integer,
      model: text,
      object: { const: "chat.completion" },
      usage: orNull(anyObject),
    },
  },
  MessagesRequest: {
    type: "object",
    description: "The body of a request to the Anthropic Messages API; its other fields as there.",
    required: ["messages"],
    additionalProperties: true,
    properties: { messages: items, model: text, max_tokens: integer, stream: orNull(boolean) },
  },
  Message: {
    type: "object",
    required: ["id", "type", "role", "content", "model"],
    additionalProperties: true,
    properties: { id: text, type: { const: "message" }, role: text, content: items, model: text },
  },
} as const satisfies Record<string, object>;

interface ObjectSchema {
  properties?: JsonObject;
  required?: string[];
  $defs?: JsonObject;
}

/** JSON Schema of the rows of a resources server: the request, the fields of `row`, and the fields of `seed`. */
export function rowSchemaOf({ row, seed }: { row?: z.ZodType; seed?: z.ZodType }): JsonObject {
  const parts = [row, seed].filter((schema) => schema !== undefined).map((schema) => jsonSchemaOf(schema));
  const own = parts as ObjectSchema[];
  const definitions = Object.assign({}, ...own.map(({ $defs }) => $defs)) as JsonObject;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      responses_create_params: WIRE_SCHEMAS.ResponseCreateParams,
      ...Object.assign({}, ...own.map(({ properties }) => properties)),
    },
    required: [...new Set(["responses_create_params", ...own.flatMap(({ required = [] }) => required)])],
    // Rows may have further fields.
    additionalProperties: true,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}
