/** Data as Python's parsers return it: JSON values, mappings with keys of any type, and values JSON has no type for. */
import { PyFloat } from "../python/numbers/py-float.ts";

/** A value of no JSON type, such as a date; equal to another of the same kind and text. */
export class OpaqueValue {
  readonly kind: string;
  readonly text: string;

  constructor(kind: string, text: string) {
    this.kind = kind;
    this.text = text;
  }
}

/** A dict: a plain object, or a Map where keys are not all strings. */
export type Mapping = Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>;

export function isMapping(value: unknown): value is Mapping {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof PyFloat) &&
    !(value instanceof OpaqueValue)
  );
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

/** A dict from its entries, in order; of equal keys (1 and true are equal) the first stays, with the last value. */
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

/** Sets a member, also one called `__proto__`. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}
