import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { coerceBool, coerceFloat, coerceInt, isRefusal, type Refusal } from "./coerce-scalar.ts";
import { type ErrorDetail, type Location, listChoices, ValidationError } from "./validation.ts";

/**
 * A small table-driven validator for the bodies every rollout sends many times. It reads a value, drops or keeps
 * unknown keys, collects every refusal with its location, and costs a few microseconds where zod costs tens.
 */
export interface Trail {
  readonly loc: (string | number)[];
  readonly detail: ErrorDetail[];
  /** How well the value fits so far, if it is measured: 2 for a known field, 1 for an unknown one that is kept. */
  score?: number;
}

/** Reads one value. On refusal it adds to the trail, and its result is not used. */
export type Reader<T> = (value: unknown, trail: Trail) => T;

/** Records a refusal. The result is a placeholder, because `readWith` throws. */
export function refuse<T>(trail: Trail, type: string, msg: string, input: unknown): T {
  trail.detail.push({ type, loc: [...trail.loc], msg, input: input ?? null });
  return undefined as T;
}

/** The first of several readers that accepts the value. If none does, the refusals of the first are reported. */
export function either<T>(...readers: [Reader<T>, ...Reader<T>[]]): Reader<T> {
  return (value, trail) => {
    for (const reader of readers) {
      const attempt: Trail = { loc: [...trail.loc], detail: [] };
      const read = reader(value, attempt);
      if (attempt.detail.length === 0) return read;
    }
    return readers[0](value, trail);
  };
}

/** Runs a reader and throws one ValidationError with everything it refused. */
export function readWith<T>(reader: Reader<T>, value: unknown, prefix: Location): T {
  const trail: Trail = { loc: [...prefix], detail: [] };
  const result = reader(value, trail);
  if (trail.detail.length > 0) throw new ValidationError(trail.detail);
  return result;
}

/** Runs a reader and returns undefined where it refuses. */
export function tryReading<T>(reader: Reader<T>, value: unknown): T | undefined {
  const trail: Trail = { loc: [], detail: [] };
  const result = reader(value, trail);
  return trail.detail.length > 0 ? undefined : result;
}

export const anything: Reader<unknown> = (value) => value;

export const str: Reader<string> = (value, trail) =>
  typeof value === "string" ? value : refuse(trail, "string_type", "Input should be a valid string", value);

function scalar<T extends number | boolean>(coerce: (value: unknown) => T | Refusal): Reader<T> {
  return (value, trail) => {
    const result = coerce(value);
    return isRefusal(result) ? refuse(trail, result.refused, result.msg, value) : result;
  };
}

export const int = scalar(coerceInt);
export const float = scalar(coerceFloat);
export const bool = scalar(coerceBool);

/** One of a closed list of values. */
export function oneOf<const T extends string | boolean>(...choices: T[]): Reader<T> {
  const allowed = new Set<unknown>(choices);
  const msg = `Input should be ${listChoices(choices)}`;
  return (value, trail) => (allowed.has(value) ? (value as T) : refuse(trail, "literal_error", msg, value));
}

/** `stream` where nothing is streamed: false, or the 0 that equals it. */
export const notStreaming: Reader<false> = (value, trail) => {
  if (value === false || (typeof value === "number" && value === 0)) return false;
  // Routes that stream take `true` before they validate: only for `true` is `false` the answer.
  return value === true
    ? refuse(trail, "literal_error", "Input should be false", value)
    : refuse(trail, "bool_type", "Input should be a valid boolean", value);
};

/** The reader's value, or null. */
export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, trail) => (value === null ? null : reader(value, trail));
}

/** A value as a word for messages and look-ups: text as it is, anything else by its kind (JSON can hide a `toString`). */
export function wordOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "object" : String(value);
}

/** Any JSON object, kept as it is. */
export const record: Reader<JsonObject> = (value, trail) =>
  isObject(value) ? value : refuse(trail, "dict_type", "Input should be a valid dictionary", value);

/** An object whose values are all strings. */
export const stringRecord: Reader<Record<string, string>> = (value, trail) => {
  const entries = record(value, trail);
  if (entries !== undefined) {
    for (const key of Object.keys(entries)) at(key, str, entries[key], trail);
  }
  return entries as Record<string, string>;
};

/** Reads a value one step deeper. */
export function at<T>(key: string | number, reader: Reader<T>, value: unknown, trail: Trail): T {
  trail.loc.push(key);
  const result = reader(value, trail);
  trail.loc.pop();
  return result;
}

/** A list; the same array comes back when no element changed, so that long token lists are not copied. */
export function list<T>(element: Reader<T>): Reader<T[]> {
  return (value, trail) => {
    if (!Array.isArray(value)) return refuse(trail, "list_type", "Input should be a valid list", value);
    let copy: T[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const before: unknown = value[index];
      const after = at(index, element, before, trail);
      if (copy === undefined && after !== before) copy = value.slice();
      if (copy !== undefined) copy[index] = after;
    }
    return copy ?? value;
  };
}

/** A table of fields: a bare reader is a required field, `optional(reader)` may be absent. */
export type Fields = Record<string, Reader<unknown> | { optional: Reader<unknown> }>;

export const optional = (reader: Reader<unknown>) => ({ optional: reader });

/** What happens to keys that are not in the table. */
export type Unknowns = "drop" | "keep" | "forbid";

/** Reads an object by a table of its fields; the result's keys come in the table's order unless unknowns are kept. */
export function object<T>(fields: Fields, unknowns: Unknowns): Reader<T> {
  const readFields = fieldsReader(fields, unknowns);
  const known = new Set(Object.keys(fields));
  return (value, trail) => {
    if (!isObject(value)) {
      const msg = "Input should be a valid dictionary or object to extract fields from";
      return refuse(trail, "model_attributes_type", msg, value);
    }
    const result = readFields(value, trail);
    if (unknowns === "forbid") {
      for (const key of Object.keys(value)) {
        if (known.has(key)) continue;
        trail.loc.push(key);
        refuse(trail, "extra_forbidden", "Extra inputs are not permitted", value[key]);
        trail.loc.pop();
      }
    }
    return result as T;
  };
}

/** Reads the fields of a table. */
function fieldsReader(fields: Fields, unknowns: Unknowns): (value: JsonObject, trail: Trail) => JsonObject {
  const table = Object.entries(fields).map(([name, field]) =>
    typeof field === "function"
      ? { name, read: field, isRequired: true }
      : { name, read: field.optional, isRequired: false },
  );
  return (value, trail) => {
    const result: JsonObject = unknowns === "keep" ? { ...value } : {};
    let found = 0;
    for (const { name, read, isRequired } of table) {
      const given = value[name];
      if (given === undefined) {
        if (isRequired) missing(value, trail, name);
        continue;
      }
      found++;
      trail.loc.push(name);
      result[name] = read(given, trail);
      trail.loc.pop();
    }
    // A known field counts twice, an unknown one that is kept once.
    if (trail.score !== undefined)
      trail.score += unknowns === "keep" ? found + Object.keys(value).length : 2 * found;
    return result;
  };
}

function missing(value: JsonObject, trail: Trail, name: string): void {
  trail.loc.push(name);
  refuse(trail, "missing", "Field required", value);
  trail.loc.pop();
}

/**
 * The reader that fits best, the first of equals, as pydantic chooses among models. If none
 * accepts the value, the refusals of the closest one are reported.
 */
export function best<T>(
  value: unknown,
  trail: Trail,
  readers: readonly Reader<T>[],
  hints: {
    /** The only one that can take the value. */
    only?: Reader<T> | undefined;
    /** The one whose refusals are reported. */
    meant?: Reader<T> | undefined;
  } = {},
): T {
  const { only, meant } = hints;
  if (only) {
    const attempt: Trail = { loc: trail.loc, detail: [], score: 0 };
    const result = only(value, attempt);
    if (attempt.detail.length === 0) {
      if (trail.score !== undefined) trail.score += attempt.score ?? 0;
      return result;
    }
  }
  let found: { result: T; score: number } | undefined;
  let closest: { detail: ErrorDetail[]; score: number } | undefined;
  for (const reader of readers) {
    const attempt: Trail = { loc: [...trail.loc], detail: [], score: 0 };
    const result = reader(value, attempt);
    const { detail, score = 0 } = attempt;
    if (detail.length === 0) {
      if (found === undefined || score > found.score) found = { result, score };
    } else if (closest === undefined || score > closest.score) closest = { detail, score };
  }
  if (found === undefined) {
    if (meant !== undefined) return meant(value, trail);
    trail.detail.push(...(closest?.detail ?? []));
    return undefined as T;
  }
  if (trail.score !== undefined) trail.score += found.score;
  return found.result;
}

/** Chooses the reader by the object's `type`; refuses objects without one and unknown ones by name. */
export function byType<T>(readers: Record<string, Reader<T>>): Reader<T> {
  const table = new Map(Object.entries(readers));
  const tags = [...table.keys()].map((tag) => `'${tag}'`).join(", ");
  return (value, trail) => {
    if (!isObject(value)) {
      const msg = "Input should be a valid dictionary or object to extract fields from";
      return refuse(trail, "model_attributes_type", msg, value);
    }
    const tag = value["type"];
    const reader = typeof tag === "string" ? table.get(tag) : undefined;
    if (reader !== undefined) return reader(value, trail);
    if (tag === undefined) {
      return refuse(trail, "union_tag_not_found", "Unable to extract tag using discriminator 'type'", value);
    }
    const msg = `Input tag '${wordOf(tag)}' found using 'type' does not match any of the expected tags: ${tags}`;
    return refuse(trail, "union_tag_invalid", msg, value);
  };
}
