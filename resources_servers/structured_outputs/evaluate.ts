import { JsonTextError, loads, strip } from "nemo-gym/python";
import { FormatError, parseCsv, parseYamlValue } from "nemo-gym/verify";
import { schemaFault } from "../../libraries/json-schema/validate.ts";
import { parseToml } from "../../libraries/structured-text/toml.ts";
import { parseXml } from "../../libraries/structured-text/xml.ts";
import { CoercionError, coerceCsv, coerceXml } from "./coerce.ts";
import type { Format } from "./row.ts";
import { strictify, UnusableSchemaError } from "./strictify.ts";

export type ErrorType =
  | "empty_response"
  | "schema_error"
  | "parse_error"
  | "validation_error"
  | "api_error"
  | "missing_tool_call"
  | "multiple_tool_calls"
  | "wrong_tool_name"
  | "tool_arguments_parse_error"
  | "missing_tool_payload_key";

/** Reasons for a reward of 0. */
export interface Fault {
  type: ErrorType;
  message: string;
}

type Outcome<Value> = { value: Value } | { fault: Fault };

/** The fault of a text that should be in `format` and match the schema; undefined if there is none. */
export function textFault(
  text: string,
  format: Format,
  schemaText: string,
  options: { coerceXmlTypes: boolean },
): Fault | undefined {
  if (strip(text) === "") return { type: "empty_response", message: "No assistant response text" };
  const schema = readSchema(schemaText);
  if ("fault" in schema) return schema.fault;
  const parsed = attempt("parse_error", () => parseText(text, format));
  if ("fault" in parsed) return parsed.fault;
  const coerced = attempt("validation_error", () =>
    coerce(parsed.value, format, schema.value, options.coerceXmlTypes),
  );
  return "fault" in coerced ? coerced.fault : valueFault(coerced.value, schema.value);
}

/** The fault of a parsed value. */
export function payloadFault(value: unknown, schemaText: string): Fault | undefined {
  const schema = readSchema(schemaText);
  return "fault" in schema ? schema.fault : valueFault(value, schema.value);
}

function valueFault(value: unknown, schema: unknown): Fault | undefined {
  const message = schemaFault(schema, value);
  return message === undefined ? undefined : { type: "validation_error", message };
}

function readSchema(text: string): Outcome<unknown> {
  return attempt("schema_error", () => {
    const schema = loads(text, { allowNonFinite: true });
    strictify(schema);
    return schema;
  });
}

function parseText(text: string, format: Format): unknown {
  switch (format) {
    case "json":
      return loads(text, { allowNonFinite: true });
    case "yaml":
      return parseYamlValue(text);
    case "xml":
      return parseXml(text);
    case "toml":
      return parseToml(text);
    case "csv":
      return parseCsv(text);
  }
}

function coerce(value: unknown, format: Format, schema: unknown, xmlTypes: boolean): unknown {
  if (format === "xml" && xmlTypes) return coerceXml(value, schema);
  return format === "csv" ? coerceCsv(value as ReturnType<typeof parseCsv>, schema) : value;
}

const expected = [FormatError, JsonTextError, CoercionError, UnusableSchemaError];

/** Runs a step that may fail on invalid data; the error becomes the fault. */
export function attempt<Value>(type: ErrorType, step: () => Value): Outcome<Value> {
  try {
    return { value: step() };
  } catch (error) {
    if (error instanceof Error && expected.some((kind) => error instanceof kind)) {
      return { fault: { type, message: `${error.constructor.name}: ${error.message}` } };
    }
    throw error;
  }
}
