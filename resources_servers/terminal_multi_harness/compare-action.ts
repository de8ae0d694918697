import type { JsonObject } from "nemo-gym";
import { byCodePoint, dumps, isObject, loads, strip } from "nemo-gym/python";
import { schemaFault } from "../../libraries/json-schema/validate.ts";
import { CATEGORIES, type Category } from "./categories.ts";
import { type Comparison, RULES } from "./tool-rules.ts";

export interface Call {
  name: string;
  arguments: string;
}

export type Action =
  | { type: "message"; content: string }
  | ({ type: "function_call" } & Call)
  | { type: "function_call_batch"; calls: readonly Call[] };

export interface Task {
  harness: string;
  threshold: number;
  /** The schema of the arguments of each declared tool. */
  schemas: ReadonlyMap<string, JsonObject>;
}

const failed = (category: Category): Comparison => ({ category, similarity: null });

/** Compares the step of the model with that of an expert. */
export function compareAction(actual: Action, expected: Action, task: Task): Comparison {
  if (expected.type === "message" && actual.type === "message")
    return failed(
      strip(actual.content) === "" ? CATEGORIES.emptyMessage : CATEGORIES.expectedChatMessageFound,
    );
  if (expected.type === "function_call" && actual.type === "function_call")
    return compareCalls(actual, expected, task);
  if (expected.type === "function_call_batch" && actual.type === "function_call_batch")
    return compareBatches(actual.calls, expected.calls, task);
  return failed(CATEGORIES.actionTypeMismatch);
}

/** The calls of both sides in the order of names and arguments. */
function compareBatches(actual: readonly Call[], expected: readonly Call[], task: Task): Comparison {
  if (actual.length !== expected.length) return failed(CATEGORIES.functionCallBatchLengthDifferent);
  const wanted = sorted(expected);
  for (const [index, call] of sorted(actual).entries()) {
    const comparison = compareCalls(call, wanted[index] as Call, task);
    if (comparison.category !== CATEGORIES.expectedToolCall) return comparison;
  }
  return failed(CATEGORIES.expectedToolCallBatch);
}

function sorted(calls: readonly Call[]): Call[] {
  const keyed = calls.map((call) => {
    const value = readJson(call.arguments);
    const text =
      value === undefined ? call.arguments : dumps(value, { sortKeys: true, separators: [",", ":"] });
    return { call, text };
  });
  keyed.sort((a, b) => byCodePoint(a.call.name, b.call.name) || byCodePoint(a.text, b.text));
  return keyed.map(({ call }) => call);
}

function compareCalls(actual: Call, expected: Call, { harness, threshold, schemas }: Task): Comparison {
  const [given, wanted] = [readJson(actual.arguments), readJson(expected.arguments)];
  if (given === undefined || wanted === undefined) return failed(CATEGORIES.argumentsDecodeError);
  if (!isObject(given) || !isObject(wanted)) return failed(CATEGORIES.argumentsNotObject);
  const schema = schemas.get(actual.name);
  if (schema === undefined) return failed(CATEGORIES.toolSchemaNotFound);
  const values = withParsedTexts(given, schema);
  if (schemaFault(schema, values) !== undefined) return failed(CATEGORIES.toolSchemaValidationFailed);
  if (actual.name !== expected.name) return failed(CATEGORIES.unexpectedTool);
  if (Object.keys(values).some((key) => !Object.hasOwn(wanted, key)))
    return failed(CATEGORIES.unexpectedArgumentKeys);
  const rules = Object.hasOwn(RULES, harness) ? RULES[harness] : undefined;
  const rule = rules && Object.hasOwn(rules, actual.name) ? rules[actual.name] : undefined;
  return rule ? rule(values, wanted, threshold) : failed(CATEGORIES.expectedToolCall);
}

/** Models often write lists and objects as JSON text: such text is read where the schema declares a list or an object. */
function withParsedTexts(values: JsonObject, schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isObject(properties)) return values;
  const parsed = Object.entries(values).map(([key, value]) => {
    const declared = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (typeof value !== "string" || !isObject(declared)) return [key, value];
    const read = readJson(value);
    const fits =
      declared["type"] === "array" ? Array.isArray(read) : declared["type"] === "object" && isObject(read);
    return [key, fits ? read : value];
  });
  return Object.fromEntries(parsed);
}

function readJson(text: string): unknown {
  try {
    return loads(text, { allowNonFinite: true });
  } catch {
    return undefined;
  }
}
