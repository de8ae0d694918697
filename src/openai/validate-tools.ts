import {
  anything,
  bool,
  byType,
  type Fields,
  int,
  isObject,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  refuse,
  str,
  stringRecord,
  tryReading,
} from "./readers.ts";
import type { HOSTED_TOOL_TYPES, Tool, ToolChoice } from "./tool-types.ts";

const webSearch: Fields = {
  type: str,
  filters: optional(nullable(record)),
  search_context_size: optional(nullable(oneOf("low", "medium", "high"))),
  user_location: optional(nullable(record)),
};
const webSearchPreview: Fields = {
  type: str,
  search_context_size: optional(nullable(oneOf("low", "medium", "high"))),
  user_location: optional(nullable(record)),
  search_content_types: optional(nullable(list(str))),
};
const onlyType: Fields = { type: str };

const hostedTools: Record<(typeof HOSTED_TOOL_TYPES)[number], Fields> = {
  file_search: {
    type: str,
    vector_store_ids: list(str),
    filters: optional(nullable(record)),
    max_num_results: optional(nullable(int)),
    ranking_options: optional(nullable(record)),
  },
  computer_use_preview: {
    type: str,
    display_height: int,
    display_width: int,
    environment: oneOf("windows", "mac", "linux", "ubuntu", "browser"),
  },
  web_search: webSearch,
  web_search_2025_08_26: webSearch,
  web_search_preview: webSearchPreview,
  web_search_preview_2025_03_11: webSearchPreview,
  mcp: {
    type: str,
    server_label: str,
    allowed_callers: optional(nullable(list(str))),
    allowed_tools: optional(anything),
    authorization: optional(nullable(str)),
    connector_id: optional(nullable(str)),
    defer_loading: optional(nullable(bool)),
    headers: optional(nullable(stringRecord)),
    require_approval: optional(anything),
    server_description: optional(nullable(str)),
    server_url: optional(nullable(str)),
    tunnel_id: optional(nullable(str)),
  },
  code_interpreter: { type: str, container: anything, allowed_callers: optional(nullable(list(str))) },
  image_generation: {
    type: str,
    action: optional(nullable(str)),
    background: optional(nullable(oneOf("transparent", "opaque", "auto"))),
    input_fidelity: optional(nullable(oneOf("high", "low"))),
    input_image_mask: optional(nullable(record)),
    model: optional(nullable(str)),
    moderation: optional(nullable(oneOf("auto", "low"))),
    output_compression: optional(nullable(int)),
    output_format: optional(nullable(oneOf("png", "webp", "jpeg"))),
    partial_images: optional(nullable(int)),
    quality: optional(nullable(oneOf("low", "medium", "high", "auto"))),
    size: optional(nullable(str)),
  },
  local_shell: onlyType,
  custom: {
    type: str,
    name: str,
    description: optional(nullable(str)),
    format: optional(nullable(record)),
    defer_loading: optional(nullable(bool)),
  },
  shell: { type: str, environment: optional(nullable(record)) },
  apply_patch: onlyType,
};

const functionTool: Fields = {
  name: str,
  parameters: nullable(record),
  strict: nullable(bool),
  type: str,
  description: optional(nullable(str)),
  defer_loading: optional(nullable(bool)),
  allowed_callers: optional(nullable(list(str))),
  output_schema: optional(nullable(record)),
};

const strictTools = Object.entries({ function: functionTool, ...hostedTools }).map(
  ([type, fields]): [string, Reader<Tool>] => [type, object<Tool>(fields, "forbid")],
);

/** Reads a tool of a request: known types only, unknown keys refused, `strict` of a function must be given. */
export const readRequestTool: Reader<Tool> = byType(Object.fromEntries(strictTools));

const looseTool = byType(
  Object.fromEntries(
    Object.entries({ function: functionTool, ...hostedTools }).map(
      ([type, fields]): [string, Reader<Tool>] => [type, object<Tool>(fields, "drop")],
    ),
  ),
);

/** Whether a tool would be accepted once its unknown keys are gone. */
export const isUsableTool = (tool: unknown): boolean => tryReading(looseTool, tool) !== undefined;

const lenientFunction = object<Tool>(
  {
    name: str,
    parameters: optional(nullable(record)),
    strict: optional(nullable(bool)),
    description: optional(nullable(str)),
  },
  "keep",
);

/** Reads a tool echoed in a response: any object with a `type`, unknown keys kept. */
export const readResponseTool: Reader<Tool> = (value, trail) => {
  if (!isObject(value)) return refuse(trail, "dict_type", "Input should be a valid dictionary", value);
  if (value["type"] === "function") return lenientFunction(value, trail);
  if (typeof value["type"] === "string") return value as Tool;
  return refuse(trail, "union_tag_not_found", "Unable to extract tag using discriminator 'type'", value);
};

const choiceFields: Record<string, Fields> = {
  function: { name: str, type: str },
  custom: { name: str, type: str },
  mcp: { server_label: str, type: str, name: optional(nullable(str)) },
  allowed_tools: { mode: oneOf("auto", "required"), tools: list(record), type: str },
  file_search: onlyType,
  web_search_preview: onlyType,
  web_search_preview_2025_03_11: onlyType,
  computer_use_preview: onlyType,
  image_generation: onlyType,
  code_interpreter: onlyType,
  shell: onlyType,
  apply_patch: onlyType,
};

const choiceWord = oneOf("none", "auto", "required");
const choiceObject = byType(
  Object.fromEntries(
    Object.entries(choiceFields).map(([type, fields]): [string, Reader<ToolChoice>] => [
      type,
      object<ToolChoice>(fields, "forbid"),
    ]),
  ),
);

/** Reads a request's tool choice: one of three words or a tool-choice object. */
export const readToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

/** Reads the tool choice echoed in a response: a word or any object. */
export const readEchoedToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? (value as unknown as ToolChoice) : choiceWord(value, trail);
