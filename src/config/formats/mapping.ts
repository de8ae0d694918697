/** Data of Python's parsers: JSON values, mappings with keys of any type, and values without a JSON type. */
import { isObject, setMember } from "../../base/python/json/door.ts";

/** A value without a JSON type, such as a date. Two of them are equal if their kind and text are equal. */
export class OpaqueValue {
  readonly kind: string;
  readonly text: string;

  constructor(kind: string, text: string) {
    this.kind = kind;
    this.text = text;
  }
}

/** A dict: a plain object, or a Map if some keys are not strings. */
export type Mapping = Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>;

export function isMapping(value: unknown): value is Mapping {
  return isObject(value) && !(value instanceof OpaqueValue);
}

export function entriesOf(mapping: Mapping): [unknown, unknown][] {
  return mapping instanceof Map ? [...mapping] : Object.entries(mapping);
}

export function hasKey(mapping: Mapping, key: unknown): boolean {
  if (mapping instanceof Map) return mapping.has(key);
  return typeof key === "string" && Object.hasOwn(mapping, key);
}

export function memberAt(mapping: Mapping, key: unknown): unknown {
  if (!hasKey(mapping, key)) return undefined;
  return mapping instanceof Map ? mapping.get(key) : (mapping as Record<string, unknown>)[key as string];
}

export function sizeOf(mapping: Mapping): number {
  return mapping instanceof Map ? mapping.size : Object.keys(mapping).length;
}

/** Creates a dict from entries. Of equal keys (1 and true are equal) it keeps the first key and the last value. */
export function mappingOf(entries: Iterable<readonly [unknown, unknown]>): Mapping {
  const map = new Map<unknown, [key: unknown, value: unknown]>();
  let allStrings = true;
  for (const [key, value] of entries) {
    const identity = typeof key === "boolean" ? Number(key) : key;
    const present = map.get(identity);
    if (present) present[1] = value;
    else map.set(identity, [key, value]);
    if (typeof key !== "string") allStrings = false;
  }
  if (!allStrings) return new Map(map.values());
  const object: Record<string, unknown> = {};
  for (const [key, value] of map.values()) setMember(object, key as string, value);
  return object;
}
