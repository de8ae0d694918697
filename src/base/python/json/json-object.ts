import { PyFloat } from "../numbers/py-float.ts";

/** A JSON object, as read from the wire or a file. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object: not null, not an array and not a PyFloat. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof PyFloat);
}

/** Sets an own member, also for `__proto__`: an assignment to that name would change the prototype. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
