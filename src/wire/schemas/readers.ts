import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { type CoercionProblem, coerceBool, coerceFloat, coerceInt, isRejection } from "./coerce.ts";
import { type ErrorDetail, type Location, listChoices, ValidationError } from "./validation.ts";

/**
 * The state of one validation: the current location and the refusals so far. Readers are a small table-driven validator
 * for the bodies that every rollout sends many times. They cost a few microseconds where zod costs tens.
 */
export interface Trail {
  readonly loc: (string | number)[];
  readonly detail: ErrorDetail[];
  /** How well the value fits so far: 2 for each known field, 1 for each unknown field that is kept. Absent: not measured. */
  score?: number;
}

/** Reads one value. A refusal is added to the trail, and the result is then not used. */
export type Reader<T> = (value: unknown, trail: Trail) => T;

/** Records a refusal. The result is a placeholder. */
export function reject<T>(trail: Trail, type: string, msg: string, input: unknown): T {
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

/** Runs a reader and throws one ValidationError with everything it rejected. */
export function readWith<T>(reader: Reader<T>, value: unknown, prefix: Location): T {
  const trail: Trail = { loc: [...prefix], detail: [] };
  const result = reader(value, trail);
  if (trail.detail.length > 0) throw new ValidationError(trail.detail);
  return result;
}

/** Runs a reader and returns undefined where it rejects. */
export function tryReading<T>(reader: Reader<T>, value: unknown): T | undefined {
  const trail: Trail = { loc: [], detail: [] };
  const result = reader(value, trail);
  return trail.detail.length > 0 ? undefined : result;
}

export const anything: Reader<unknown> = (value) => value;

export const str: Reader<string> = (value, trail) =>
  typeof value === "string" ? value : reject(trail, "string_type", "Input should be a valid string", value);

/** A string, or a value that another reader accepts. */
export function textOr<T>(reader: Reader<T>): Reader<string | T> {
  return (value, trail) => (typeof value === "string" ? value : reader(value, trail));
}

function scalar<T extends number | boolean>(coerce: (value: unknown) => T | CoercionProblem): Reader<T> {
  return (value, trail) => {
    const result = coerce(value);
    return isRejection(result) ? reject(trail, result.rejected, result.msg, value) : result;
  };
}

export const int = scalar(coerceInt);
export const float = scalar(coerceFloat);
export const bool = scalar(coerceBool);

/** One of a closed list of values. */
export function oneOf<const T extends string | boolean>(...choices: T[]): Reader<T> {
  const allowed = new Set<unknown>(choices);
  const msg = `Input should be ${listChoices(choices)}`;
  return (value, trail) => (allowed.has(value) ? (value as T) : reject(trail, "literal_error", msg, value));
}

/** `stream` of a request that is not streamed: false, or 0, which equals it in Python. */
export const notStreaming: Reader<false> = (value, trail) => {
  if (value === false || (typeof value === "number" && value === 0)) return false;
  // Routes with streaming handle `true` before they validate a body.
  return value === true
    ? reject(trail, "literal_error", "Input should be false", value)
    : reject(trail, "bool_type", "Input should be a valid boolean", value);
};

/** The reader's value, or null. */
export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, trail) => (value === null ? null : reader(value, trail));
}

/** A value as a word for messages and look-ups: text unchanged, another value by its type. Never calls `toString` of an object. */
export function wordOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "object" : String(value);
}

/** Any JSON object, kept as it is. */
export const record: Reader<JsonObject> = (value, trail) =>
  isObject(value) ? value : reject(trail, "dict_type", "Input should be a valid dictionary", value);

/** An object whose values a reader accepts. The object is kept unchanged. */
export function recordOf(reader: Reader<unknown>): Reader<JsonObject> {
  return (value, trail) => {
    const given = record(value, trail);
    for (const key of Object.keys(given ?? {})) at(key, reader, given[key], trail);
    return given;
  };
}

/** An object whose values are all strings. */
export const stringRecord = recordOf(str);

/** Reads a value one step deeper. */
export function at<T>(key: string | number, reader: Reader<T>, value: unknown, trail: Trail): T {
  trail.loc.push(key);
  const result = reader(value, trail);
  trail.loc.pop();
  return result;
}

/** A list. Returns the same array when no element changed, so that long token lists are not copied. */
export function list<T>(element: Reader<T>): Reader<T[]> {
  return (value, trail) => {
    if (!Array.isArray(value)) return reject(trail, "list_type", "Input should be a valid list", value);
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

/** A table of fields. A plain reader is a required field; `optional(reader)` may be absent. */
export type Fields = Record<string, Reader<unknown> | { optional: Reader<unknown> }>;

export const optional = (reader: Reader<unknown>) => ({ optional: reader });

/** A field that may be absent or null. */
export const nullish = (reader: Reader<unknown>) => optional(nullable(reader));

/** What happens to keys that are not in the table. */
export type Unknowns = "drop" | "keep" | "forbid";

/** Reads an object by a table of its fields. The result has the order of the table unless unknown keys are kept. */
export function object<T>(fields: Fields, unknowns: Unknowns = "drop"): Reader<T> {
  const known = new Set(Object.keys(fields));
  const table = Object.entries(fields).map(([name, field]) =>
    typeof field === "function"
      ? { name, read: field, isRequired: true }
      : { name, read: field.optional, isRequired: false },
  );
  return (value, trail) => {
    if (!isObject(value)) return notAnObject(value, trail);
    const result: JsonObject = unknowns === "keep" ? { ...value } : {};
    let found = 0;
    for (const { name, read, isRequired } of table) {
      const given = value[name];
      if (given !== undefined) {
        found++;
        result[name] = at(name, read, given, trail);
      } else if (isRequired) at(name, missing, value, trail);
    }
    // Each known field counts twice, and each unknown field that is kept once.
    if (trail.score !== undefined)
      trail.score += unknowns === "keep" ? found + Object.keys(value).length : 2 * found;
    if (unknowns === "forbid") {
      for (const key of Object.keys(value)) if (!known.has(key)) at(key, extraForbidden, value[key], trail);
    }
    return result as T;
  };
}

function notAnObject<T>(value: unknown, trail: Trail): T {
  const msg = "Input should be a valid dictionary or object to extract fields from";
  return reject(trail, "model_attributes_type", msg, value);
}

const missing: Reader<unknown> = (value, trail) => reject(trail, "missing", "Field required", value);

const extraForbidden: Reader<unknown> = (value, trail) =>
  reject(trail, "extra_forbidden", "Extra inputs are not permitted", value);

/**
 * Reads with the reader that fits best, the first of several that fit equally well, as pydantic does for a union of
 * models. If no reader accepts the value, the refusals of the closest one are reported.
 */
export function best<T>(
  value: unknown,
  trail: Trail,
  readers: readonly Reader<T>[],
  hints: {
    /** The only reader that can accept the value. */
    only?: Reader<T>;
    /** The reader whose refusals are reported. */
    meant?: Reader<T>;
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

/**
 * Chooses the reader by the `type` of the object. Rejects objects without a type or with an unknown one. An entry is a
 * reader, or a table of fields for `object`.
 */
export function byType<T>(
  entries: Readonly<Record<string, Reader<T> | Fields>>,
  unknowns: Unknowns = "drop",
): Reader<T> {
  const readers = new Map<string, Reader<T>>();
  for (const [tag, entry] of Object.entries(entries))
    readers.set(tag, typeof entry === "function" ? entry : object(entry, unknowns));
  const tags = [...readers.keys()].map((tag) => `'${tag}'`).join(", ");
  return (value, trail) => {
    if (!isObject(value)) return notAnObject(value, trail);
    const tag = value["type"];
    const reader = typeof tag === "string" ? readers.get(tag) : undefined;
    if (reader !== undefined) return reader(value, trail);
    if (tag === undefined) {
      return reject(trail, "union_tag_not_found", "Unable to extract tag using discriminator 'type'", value);
    }
    const msg = `Input tag '${wordOf(tag)}' found using 'type' does not match any of the expected tags: ${tags}`;
    return reject(trail, "union_tag_invalid", msg, value);
  };
}
