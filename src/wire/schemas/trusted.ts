/** Bodies that were parsed, or put together from parsed parts, in this process. */
const parsed = new WeakSet<object>();
/** Bodies that have every key. */
const materialized = new WeakSet<object>();

/**
 * Marks a body as valid: a server of this process that receives this very object does not parse it again. Over a wire the mark is lost,
 * and the body is parsed.
 */
export function trust<T extends object>(body: T): T {
  parsed.add(body);
  return body;
}

export function isTrusted(body: unknown): boolean {
  return typeof body === "object" && body !== null && parsed.has(body);
}

/** Marks a body that has every key; it is not filled in again. */
export function trustMaterialized<T extends object>(body: T): T {
  materialized.add(body);
  return body;
}

export function isMaterialized(body: object): boolean {
  return materialized.has(body);
}
