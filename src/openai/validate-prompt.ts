import {
  at,
  byType,
  isObject,
  type JsonObject,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  str,
} from "./readers.ts";

const cached = { prompt_cache_breakpoint: optional(object({ mode: oneOf("explicit") }, "forbid")) };
const part = byType<unknown>({
  input_text: object({ text: str, type: str, ...cached }, "forbid"),
  input_image: object(
    {
      detail: oneOf("low", "high", "auto", "original"),
      type: str,
      file_id: optional(nullable(str)),
      image_url: optional(nullable(str)),
      ...cached,
    },
    "forbid",
  ),
  input_file: object(
    {
      type: str,
      detail: optional(oneOf("auto", "low", "high")),
      file_data: optional(str),
      file_id: optional(nullable(str)),
      file_url: optional(str),
      filename: optional(str),
      ...cached,
    },
    "forbid",
  ),
});

const variable: Reader<unknown> = (value, trail) =>
  isObject(value) ? part(value, trail) : str(value, trail);

const variables: Reader<JsonObject> = (value, trail) => {
  const given = record(value, trail);
  for (const name of Object.keys(given ?? {})) at(name, variable, given[name], trail);
  return given;
};

/** Reads a reference to a prompt stored at the provider; its variables are texts or input parts. */
export const readPrompt = object(
  { id: str, variables: optional(nullable(variables)), version: optional(nullable(str)) },
  "forbid",
);
