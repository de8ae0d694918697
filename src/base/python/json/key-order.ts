/**
 * The key order of objects with keys that look like whole numbers.
 *
 * JavaScript lists such keys first (`{"b":1,"0":2}` starts with `0`). Python keeps the order of the text. `loads` records
 * the order here and our writers use it. Other objects are never in the map.
 */
const orders = new WeakMap<object, string[]>();
let anyNoted = false;

const wholeNumberKey = /^(?:0|[1-9]\d*)$/;

/** Records the order of `keys` for `object` if JavaScript lists them in another order. */
export function noteKeyOrder(object: object, keys: string[]): void {
  if (!keys.some((key) => wholeNumberKey.test(key))) return;
  orders.set(object, keys);
  anyNoted = true;
}

/** The keys of `object` in the order of its source text. Keys that were added later come last. */
export function orderedKeys(object: object): string[] {
  const keys = Object.keys(object);
  if (!anyNoted) return keys;
  const noted = orders.get(object);
  if (noted === undefined) return keys;
  const present = new Set(keys);
  const result = noted.filter((key) => present.delete(key));
  return [...result, ...present];
}

/** Whether this process recorded a key order; fast paths must then check for such objects. */
export function anyKeyOrderNoted(): boolean {
  return anyNoted;
}

/** A shallow copy with further members and the recorded key order. */
export function copyWith<T extends object>(object: T, members?: Record<string, unknown>): T {
  // Much faster than a spread on V8, but an assignment to `__proto__` would set the prototype of the copy.
  const plain = !Object.hasOwn(object, "__proto__") && !(members && Object.hasOwn(members, "__proto__"));
  const copy = plain ? Object.assign({}, object, members) : { ...object, ...members };
  const noted = anyNoted ? orders.get(object) : undefined;
  if (noted !== undefined) orders.set(copy, noted);
  return copy;
}
