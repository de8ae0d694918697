import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { at, byType, nullable, object, optional, type Reader, record, str } from "./readers.ts";
import { inputPartReaders } from "./validate-parts.ts";

const part = byType(inputPartReaders("forbid"));

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
