import { isObject, type JsonObject } from "../../base/python/json/door.ts";

/** A number; null for any other value. The exact reader wraps floats such as `1.0` in objects. */
export function numberOf(value: unknown): number | null {
  const number = value !== null && typeof value === "object" && !Array.isArray(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The objects of an array; empty for any other value. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** An object; empty for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
