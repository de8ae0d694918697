import { pyStr } from "../base/python/door.ts";
import { setMember } from "../base/python/json/door.ts";
import { PyFloat } from "../base/python/numbers/door.ts";
import { ConfigError } from "./errors.ts";
import {
  type ConfigNode,
  dict,
  listNode,
  literalText,
  MAX_CONFIG_DEPTH,
  type Origin,
  scalar,
  setEntry,
} from "./node.ts";

/** Converts plain data to config nodes. With `literal`, texts are never interpolations. */
export function nodeFromPlain(value: unknown, origin: Origin, literal = false, depth = 0): ConfigNode {
  if (depth > MAX_CONFIG_DEPTH)
    throw new ConfigError(`Config data is nested deeper than ${MAX_CONFIG_DEPTH} levels.`);
  if (value === undefined || value === null) return scalar(null, origin);
  if (typeof value === "string") return literal ? literalText(value, origin) : scalar(value, origin);
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
    return scalar(value, origin);
  if (value instanceof PyFloat) return scalar(value, origin);
  if (Array.isArray(value))
    return listNode(
      origin,
      value.map((item) => nodeFromPlain(item, origin, literal, depth + 1)),
    );
  if (typeof value !== "object") throw new ConfigError(`A ${typeof value} cannot be a config value.`);
  const result = dict(origin);
  for (const [key, member] of value instanceof Map ? value : Object.entries(value))
    setEntry(result.entries, key, nodeFromPlain(member, origin, literal, depth + 1));
  return result;
}

/** Converts resolved config nodes to plain data. Keys become texts, and numbers plain numbers. */
export function plainFromNode(node: ConfigNode): unknown {
  if (node.kind === "list") return node.items.map(plainFromNode);
  if (node.kind === "dict") {
    const result: Record<string, unknown> = {};
    for (const [key, member] of node.entries) setMember(result, String(key), plainFromNode(member));
    return result;
  }
  if (node.value instanceof PyFloat) return node.value.value;
  return typeof node.value === "bigint" ? Number(node.value) : node.value;
}

/** Python's `str` of a node without interpolations. */
export function nodeText(node: ConfigNode): string {
  return pyStr(node.kind === "scalar" ? node.value : plainFromNode(node));
}
