import type { Mapping } from "../json-schema/values.ts";

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
