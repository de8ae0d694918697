/** Bodies that this process has parsed, or built from parsed parts. */
const parsed = new WeakSet<object>();
/** Bodies with all keys. */
const materialized = new WeakSet<object>();

/**
 * Marks a body as valid. A server in this process that receives the same object does not parse it again. A body that is
 * sent to another process loses the mark and is parsed.
 */
export function trust<T extends object>(body: T): T {
  parsed.add(body);
  return body;
}

export function isTrusted(body: unknown): boolean {
  return typeof body === "object" && body !== null && parsed.has(body);
}

/** Marks a body with all keys, so that it is not filled in again. */
export function trustMaterialized<T extends object>(body: T): T {
  materialized.add(body);
  return body;
}

export function isMaterialized(body: object): boolean {
  return materialized.has(body);
}
