import { isObject } from "../../base/python/json/door.ts";
import type { Tool, ToolChoice } from "./item-types.ts";
import {
  anything,
  bool,
  byType,
  either,
  type Fields,
  float,
  int,
  list,
  nullable,
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  reject,
  str,
  stringRecord,
  tryReading,
  type Unknowns,
} from "./readers.ts";

const onlyType: Fields = { type: str };
const text = optional(str);
const maybeText = nullish(str);
const contextSize = optional(oneOf("low", "medium", "high"));
const callers = nullish(list(oneOf("direct", "programmatic")));

const connector = oneOf(
  "connector_dropbox",
  "connector_gmail",
  "connector_googlecalendar",
  "connector_googledrive",
  "connector_microsoftteams",
  "connector_outlookcalendar",
  "connector_outlookemail",
  "connector_sharepoint",
);

const functionTool: Fields = {
  name: str,
  parameters: nullable(record),
  strict: nullish(bool),
  type: str,
  description: maybeText,
  defer_loading: optional(bool),
  allowed_callers: callers,
  output_schema: nullish(record),
};

/** The fields of each type of tool. Nested objects treat unknown keys in the same way as the tool itself. */
function toolTable(unknowns: Unknowns): Record<string, Fields> {
  const nested = (fields: Fields) => object<unknown>(fields, unknowns);
  const location = (type: Fields[string]) =>
    nullish(nested({ type, city: maybeText, country: maybeText, region: maybeText, timezone: maybeText }));
  const webSearch: Fields = {
    type: str,
    filters: nullish(nested({ allowed_domains: nullish(list(str)) })),
    search_context_size: contextSize,
    user_location: location(optional(oneOf("approximate"))),
  };
  const webSearchPreview: Fields = {
    type: str,
    search_content_types: optional(list(oneOf("text", "image"))),
    search_context_size: contextSize,
    user_location: location(oneOf("approximate")),
  };
  const scalar = either<unknown>(str, float);
  const comparison = either<unknown>(
    nested({
      key: str,
      type: oneOf("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"),
      value: either<unknown>(scalar, bool, list(scalar)),
    }),
    nested({ filters: list(record), type: oneOf("and", "or") }),
  );
  const container: Fields = {
    file_ids: optional(list(str)),
    memory_limit: nullish(oneOf("1g", "4g", "16g", "64g")),
    network_policy: optional(
      byType(
        {
          disabled: onlyType,
          allowlist: { type: str, allowed_domains: list(str), domain_secrets: optional(list(record)) },
        },
        unknowns,
      ),
    ),
  };
  const skills = optional(list(record));
  const toolFilter = nested({ read_only: optional(bool), tool_names: optional(list(str)) });
  const format = either<unknown>(
    nested({ type: oneOf("text") }),
    nested({ type: oneOf("grammar"), definition: str, syntax: oneOf("lark", "regex") }),
  );
  const custom: Fields = {
    type: str,
    name: str,
    description: text,
    format: optional(format),
    defer_loading: optional(bool),
    allowed_callers: callers,
  };
  return {
    function: functionTool,
    file_search: {
      type: str,
      vector_store_ids: list(str),
      filters: nullish(comparison),
      max_num_results: optional(int),
      ranking_options: optional(
        nested({
          hybrid_search: optional(nested({ embedding_weight: float, text_weight: float })),
          ranker: optional(oneOf("auto", "default-2024-11-15")),
          score_threshold: optional(float),
        }),
      ),
    },
    computer: onlyType,
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
      allowed_callers: callers,
      allowed_tools: nullish(either<unknown>(list(str), toolFilter)),
      authorization: text,
      connector_id: optional(connector),
      defer_loading: optional(bool),
      headers: nullish(stringRecord),
      require_approval: nullish(
        either<unknown>(
          oneOf("always", "never"),
          nested({ always: optional(toolFilter), never: optional(toolFilter) }),
        ),
      ),
      server_description: text,
      server_url: text,
      tunnel_id: text,
    },
    code_interpreter: {
      type: str,
      container: either<unknown>(str, nested({ type: oneOf("auto"), ...container })),
      allowed_callers: callers,
    },
    image_generation: {
      type: str,
      action: optional(oneOf("generate", "edit", "auto")),
      background: optional(oneOf("transparent", "opaque", "auto")),
      input_fidelity: nullish(oneOf("high", "low")),
      input_image_mask: optional(nested({ file_id: text, image_url: text })),
      model: text,
      moderation: optional(oneOf("auto", "low")),
      output_compression: optional(int),
      output_format: optional(oneOf("png", "webp", "jpeg")),
      partial_images: optional(int),
      quality: optional(oneOf("low", "medium", "high", "auto")),
      size: text,
    },
    local_shell: onlyType,
    custom,
    namespace: {
      type: str,
      name: str,
      description: str,
      tools: list(
        either<unknown>(
          nested({ ...functionTool, type: oneOf("function"), parameters: optional(anything) }),
          nested({ ...custom, type: oneOf("custom") }),
        ),
      ),
    },
    tool_search: {
      type: str,
      description: maybeText,
      execution: optional(oneOf("server", "client")),
      parameters: optional(anything),
    },
    programmatic_tool_calling: onlyType,
    shell: {
      type: str,
      allowed_callers: callers,
      environment: nullish(
        either<unknown>(
          nested({ type: oneOf("container_auto"), ...container, skills }),
          nested({ type: oneOf("local"), skills }),
          nested({ type: oneOf("container_reference"), container_id: str }),
        ),
      ),
    },
    apply_patch: { type: str, allowed_callers: callers },
  };
}

/** Reads a tool of a known type. */
export const toolReader = (unknowns: Unknowns): Reader<Tool> => byType(toolTable(unknowns), unknowns);

/** Reads a tool of a request: a known type without unknown keys. */
export const readRequestTool: Reader<Tool> = toolReader("forbid");

const looseTool = toolReader("drop");

/** Whether a tool is accepted without its unknown keys. */
export const isUsableTool = (tool: unknown): boolean => tryReading(looseTool, tool) !== undefined;

const lenientFunction = object<Tool>(
  {
    name: str,
    parameters: nullish(record),
    strict: nullish(bool),
    description: nullish(str),
  },
  "keep",
);

/** Reads a tool of a response: any object with a `type`. Unknown keys are kept. */
export const readResponseTool: Reader<Tool> = (value, trail) => {
  if (!isObject(value)) return reject(trail, "dict_type", "Input should be a valid dictionary", value);
  if (value["type"] === "function") return lenientFunction(value, trail);
  if (typeof value["type"] === "string") return value as Tool;
  return reject(trail, "union_tag_not_found", "Unable to extract tag using discriminator 'type'", value);
};

const choiceFields: Record<string, Fields> = {
  function: { name: str, type: str },
  custom: { name: str, type: str },
  mcp: { server_label: str, type: str, name: nullish(str) },
  allowed_tools: { mode: oneOf("auto", "required"), tools: list(record), type: str },
  file_search: onlyType,
  web_search_preview: onlyType,
  web_search_preview_2025_03_11: onlyType,
  computer_use_preview: onlyType,
  image_generation: onlyType,
  code_interpreter: onlyType,
  computer: onlyType,
  computer_use: onlyType,
  shell: onlyType,
  apply_patch: onlyType,
  programmatic_tool_calling: onlyType,
};

/** Reads a tool choice that is an object of a known type. */
export const toolChoiceReader = (unknowns: Unknowns): Reader<ToolChoice> => byType(choiceFields, unknowns);

const choiceWord = oneOf("none", "auto", "required");
const choiceObject = toolChoiceReader("forbid");

/** Reads the tool choice of a request: a word, or an object of a known type. */
export const readToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

/** Reads the tool choice of a response: a word, or any object. */
export const readEchoedToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? (value as unknown as ToolChoice) : choiceWord(value, trail);
