import { compilePyRegex, RegexSyntaxError } from "nemo-gym/python";
import { entriesOf, isMapping } from "nemo-gym/verify";
import { isOfType, numeric } from "./values.ts";

/** The fault of a keyword's value; undefined if there is none. `at` is the position in the message. */
type Check = (value: unknown, at: string) => string | undefined;

const simpleTypes = ["array", "boolean", "integer", "null", "number", "object", "string"];

function ofType(type: string): Check {
  return (value, at) => (isOfType(value, type) ? undefined : `${at} is not of type '${type}'`);
}

const text = ofType("string");
const bool = ofType("boolean");
const number = ofType("number");
const list = ofType("array");

const count: Check = (value, at) => {
  const amount = isOfType(value, "integer") ? numeric(value) : undefined;
  return amount !== undefined && amount >= 0 ? undefined : `${at} is not a non-negative integer`;
};

const positive: Check = (value, at) => {
  const amount = numeric(value);
  return amount !== undefined && amount > 0 ? undefined : `${at} is not a number above 0`;
};

const regex: Check = (value, at) => {
  if (typeof value !== "string") return text(value, at);
  try {
    compilePyRegex(value);
    return undefined;
  } catch (error) {
    if (error instanceof RegexSyntaxError) return `${at} is not a regular expression: ${error.message}`;
    throw error;
  }
};

function matching(pattern: RegExp): Check {
  return (value, at) =>
    typeof value === "string" && pattern.test(value) ? undefined : `${at} is not a valid name or address`;
}

const strings: Check = (value, at) => {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    return `${at} is not a list of strings`;
  return new Set(value).size === value.length ? undefined : `${at} has non-unique elements`;
};

const types: Check = (value, at) => {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  const known =
    names.length > 0 && names.every((name) => typeof name === "string" && simpleTypes.includes(name));
  return known && new Set(names).size === names.length ? undefined : `${at} is not a type or list of types`;
};

const schema: Check = (value, at) => checkSchema(value, at);

const schemas: Check = (value, at) => {
  if (!Array.isArray(value) || value.length === 0) return `${at} is not a list of schemas`;
  return firstOf(value.map((item, index) => () => checkSchema(item, `${at}/${index}`)));
};

function mapOf(check: Check, keys?: Check): Check {
  return (value, at) => {
    if (!isMapping(value)) return `${at} is not of type 'object'`;
    return firstOf(
      entriesOf(value).map(([key, member]) => () => {
        const place = `${at}/${String(key)}`;
        return keys?.(key, place) ?? check(member, place);
      }),
    );
  };
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const anchor = matching(/^[A-Za-z_][-A-Za-z0-9._]*\n?$/);

/** Draft 2020-12, with the keywords of older drafts that its meta-schema still mentions. */
const keywords: Readonly<Record<string, Check>> = {
  $id: matching(/^[^#]*#?\n?$/),
  $schema: text,
  $ref: text,
  $anchor: anchor,
  $dynamicRef: text,
  $dynamicAnchor: anchor,
  $vocabulary: mapOf(bool),
  $comment: text,
  $defs: mapOf(schema),
  prefixItems: schemas,
  items: schema,
  contains: schema,
  additionalProperties: schema,
  properties: mapOf(schema),
  patternProperties: mapOf(schema, regex),
  dependentSchemas: mapOf(schema),
  propertyNames: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  unevaluatedItems: schema,
  unevaluatedProperties: schema,
  type: types,
  enum: list,
  multipleOf: positive,
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: regex,
  maxItems: count,
  minItems: count,
  uniqueItems: bool,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: strings,
  dependentRequired: mapOf(strings),
  title: text,
  description: text,
  deprecated: bool,
  readOnly: bool,
  writeOnly: bool,
  examples: list,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: schema,
  definitions: mapOf(schema),
  dependencies: mapOf((value, at) => (Array.isArray(value) ? strings(value, at) : schema(value, at))),
  $recursiveAnchor: anchor,
  $recursiveRef: text,
};

/** The reason why a value is not a JSON Schema (draft 2020-12); undefined if it is one. */
export function checkSchema(value: unknown, at = "#"): string | undefined {
  if (typeof value === "boolean") return undefined;
  if (!isMapping(value)) return `${at} is not of type 'object', 'boolean'`;
  return firstOf(
    entriesOf(value).map(([key, member]) => () => {
      const check = typeof key === "string" && Object.hasOwn(keywords, key) ? keywords[key] : undefined;
      return check?.(member, `${at}/${String(key)}`);
    }),
  );
}
