import { isObject } from "../../python/json/json-object.ts";
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
  object,
  oneOf,
  optional,
  type Reader,
  record,
  refuse,
  str,
  stringRecord,
  tryReading,
  type Unknowns,
} from "./readers.ts";
import type { Tool, ToolChoice } from "./tool-types.ts";

const text = optional(str);
const maybeText = optional(nullable(str));
const contextSize = optional(oneOf("low", "medium", "high"));
const callers = optional(nullable(list(oneOf("direct", "programmatic"))));

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
  strict: optional(nullable(bool)),
  type: str,
  description: maybeText,
  defer_loading: optional(bool),
  allowed_callers: callers,
  output_schema: optional(nullable(record)),
};

/** Tables below an object that forbids unknown keys forbid them too; a streaming request's tools are read without that. */

const location = (unknowns: Unknowns, type: Fields[string]) =>
  optional(
    nullable(
      object({ type, city: maybeText, country: maybeText, region: maybeText, timezone: maybeText }, unknowns),
    ),
  );

function comparison(unknowns: Unknowns): Reader<unknown> {
  const scalar = either<unknown>(str, float);
  const leaf = object(
    {
      key: str,
      type: oneOf("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"),
      value: either<unknown>(scalar, bool, list(scalar)),
    },
    unknowns,
  );
  const compound = object({ filters: list(record), type: oneOf("and", "or") }, unknowns);
  return either<unknown>(leaf, compound);
}

function networkPolicy(unknowns: Unknowns): Reader<unknown> {
  return byType<unknown>({
    disabled: object({ type: str }, unknowns),
    allowlist: object(
      { type: str, allowed_domains: list(str), domain_secrets: optional(list(record)) },
      unknowns,
    ),
  });
}

function container(unknowns: Unknowns, type: string): Reader<unknown> {
  return object(
    {
      type: oneOf(type),
      file_ids: optional(list(str)),
      memory_limit: optional(nullable(oneOf("1g", "4g", "16g", "64g"))),
      network_policy: optional(networkPolicy(unknowns)),
      ...(type === "container_auto" ? { skills: optional(list(record)) } : {}),
    },
    unknowns,
  );
}

const echoedFunction: Fields = {
  ...functionTool,
  parameters: optional(nullable(record)),
  strict: optional(nullable(bool)),
};

function toolTable(unknowns: Unknowns): Record<string, Fields> {
  const webSearch: Fields = {
    type: str,
    filters: optional(nullable(object({ allowed_domains: optional(nullable(list(str))) }, unknowns))),
    search_context_size: contextSize,
    user_location: location(unknowns, optional(oneOf("approximate"))),
  };
  const webSearchPreview: Fields = {
    type: str,
    search_content_types: optional(list(oneOf("text", "image"))),
    search_context_size: contextSize,
    user_location: location(unknowns, oneOf("approximate")),
  };
  const onlyType: Fields = { type: str };
  const toolFilter = object({ read_only: optional(bool), tool_names: optional(list(str)) }, unknowns);
  const format = either<unknown>(
    object({ type: oneOf("text") }, unknowns),
    object({ type: oneOf("grammar"), definition: str, syntax: oneOf("lark", "regex") }, unknowns),
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
    function: unknowns === "keep" ? echoedFunction : functionTool,
    file_search: {
      type: str,
      vector_store_ids: list(str),
      filters: optional(nullable(comparison(unknowns))),
      max_num_results: optional(int),
      ranking_options: optional(
        object(
          {
            hybrid_search: optional(object({ embedding_weight: float, text_weight: float }, unknowns)),
            ranker: optional(oneOf("auto", "default-2024-11-15")),
            score_threshold: optional(float),
          },
          unknowns,
        ),
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
      allowed_tools: optional(nullable(either<unknown>(list(str), toolFilter))),
      authorization: text,
      connector_id: optional(connector),
      defer_loading: optional(bool),
      headers: optional(nullable(stringRecord)),
      require_approval: optional(
        nullable(
          either<unknown>(
            oneOf("always", "never"),
            object({ always: optional(toolFilter), never: optional(toolFilter) }, unknowns),
          ),
        ),
      ),
      server_description: text,
      server_url: text,
      tunnel_id: text,
    },
    code_interpreter: {
      type: str,
      container: either<unknown>(str, container(unknowns, "auto")),
      allowed_callers: callers,
    },
    image_generation: {
      type: str,
      action: optional(oneOf("generate", "edit", "auto")),
      background: optional(oneOf("transparent", "opaque", "auto")),
      input_fidelity: optional(nullable(oneOf("high", "low"))),
      input_image_mask: optional(object({ file_id: text, image_url: text }, unknowns)),
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
          object(
            {
              ...functionTool,
              type: oneOf("function"),
              parameters: optional(anything),
              strict: optional(nullable(bool)),
            },
            unknowns,
          ),
          object({ ...custom, type: oneOf("custom") }, unknowns),
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
      environment: optional(
        nullable(
          either<unknown>(
            container(unknowns, "container_auto"),
            object({ type: oneOf("local"), skills: optional(list(record)) }, unknowns),
            object({ type: oneOf("container_reference"), container_id: str }, unknowns),
          ),
        ),
      ),
    },
    apply_patch: { type: str, allowed_callers: callers },
  };
}

function toolReader(unknowns: Unknowns): Reader<Tool> {
  const entries = Object.entries(toolTable(unknowns)).map(([type, fields]): [string, Reader<Tool>] => [
    type,
    object<Tool>(fields, unknowns),
  ]);
  return byType(Object.fromEntries(entries));
}

/** Reads a tool of a request: known types only, unknown keys refused. A function without `strict` is as if it were null. */
export const readRequestTool: Reader<Tool> = toolReader("forbid");

const looseTool = toolReader("drop");

/** Whether a tool would be accepted once its unknown keys are gone. */
export const isUsableTool = (tool: unknown): boolean => tryReading(looseTool, tool) !== undefined;

/** Reads a tool of a response: the forms of a request, unknown keys kept. */
export const readStrictResponseTool: Reader<Tool> = toolReader("keep");

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

const onlyType: Fields = { type: str };
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
  computer: onlyType,
  computer_use: onlyType,
  shell: onlyType,
  apply_patch: onlyType,
  programmatic_tool_calling: onlyType,
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

/** Reads a tool-choice object of a response: the forms of a request, unknown keys kept. */
export const readLooseToolChoice: Reader<ToolChoice> = byType(
  Object.fromEntries(
    Object.entries(choiceFields).map(([type, fields]): [string, Reader<ToolChoice>] => [
      type,
      object<ToolChoice>(fields, "keep"),
    ]),
  ),
);

/** Reads a request's tool choice: one of three words or a tool-choice object. */
export const readToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

/** Reads the tool choice echoed in a response: a word or any object. */
export const readEchoedToolChoice: Reader<ToolChoice> = (value, trail) =>
  isObject(value) ? (value as unknown as ToolChoice) : choiceWord(value, trail);
