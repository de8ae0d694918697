import { createHash } from "node:crypto";

/** A source of numbers in [0, 1). */
export type RandomSource = () => number;

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;
const MAX_ITEMS = 4;
const WORDS = [
  "amber",
  "birch",
  "cedar",
  "delta",
  "ember",
  "fjord",
  "grove",
  "heron",
  "inlet",
  "juniper",
  "kestrel",
  "lagoon",
];

/** A random value for a JSON Schema of a tool. The result for an unsupported schema is a word. */
export function sampleSchema(
  schema: unknown,
  random: RandomSource,
  root: unknown = schema,
  depth = 0,
): unknown {
  if (typeof schema !== "object" || schema === null) return word(random);
  const node = schema as Schema;
  if (typeof node["$ref"] === "string") {
    const target = depth < MAX_DEPTH ? resolveRef(node["$ref"], root) : undefined;
    return target === undefined ? null : sampleSchema(target, random, root, depth + 1);
  }
  if ("const" in node) return node["const"];
  if (Array.isArray(node["enum"]) && node["enum"].length > 0) return pick(node["enum"], random);
  for (const key of ["anyOf", "oneOf"]) {
    const options = node[key];
    if (Array.isArray(options) && options.length > 0)
      return sampleSchema(pick(options, random), random, root, depth + 1);
  }
  if (Array.isArray(node["allOf"]))
    return sampleSchema(Object.assign({}, ...node["allOf"]), random, root, depth + 1);
  const type = Array.isArray(node["type"]) ? pick(node["type"], random) : node["type"];
  switch (type ?? (node["properties"] ? "object" : "string")) {
    case "object":
      return sampleObject(node, random, root, depth);
    case "array":
      return sampleArray(node, random, root, depth);
    case "integer":
      return Math.round(sampleNumber(node, random));
    case "number":
      return Number(sampleNumber(node, random).toFixed(2));
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    default:
      return sampleString(node, random);
  }
}

function sampleObject(
  node: Schema,
  random: RandomSource,
  root: unknown,
  depth: number,
): Record<string, unknown> {
  const required = new Set(Array.isArray(node["required"]) ? node["required"] : []);
  const value: Record<string, unknown> = {};
  for (const [key, property] of Object.entries((node["properties"] ?? {}) as Schema)) {
    if (!required.has(key) && (depth >= MAX_DEPTH || random() < 0.5)) continue;
    Object.defineProperty(value, key, {
      value: sampleSchema(property, random, root, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

function sampleArray(node: Schema, random: RandomSource, root: unknown, depth: number): unknown[] {
  const least = numberOr(node["minItems"], 0);
  const most = Math.min(numberOr(node["maxItems"], Math.max(least, 3)), Math.max(least, MAX_ITEMS));
  const count = depth >= MAX_DEPTH ? least : least + Math.floor(random() * (most - least + 1));
  return Array.from({ length: count }, () => sampleSchema(node["items"], random, root, depth + 1));
}

function sampleNumber(node: Schema, random: RandomSource): number {
  const low = numberOr(node["minimum"], numberOr(node["exclusiveMinimum"], -1) + 1);
  const high = Math.max(low, numberOr(node["maximum"], numberOr(node["exclusiveMaximum"], low + 101) - 1));
  return low + random() * (high - low);
}

function sampleString(node: Schema, random: RandomSource): string {
  switch (node["format"]) {
    case "date":
      return `2024-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`;
    case "date-time":
      return `2024-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}T12:00:00Z`;
    case "email":
      return `${word(random)}@example.com`;
    case "uri":
      return `https://example.com/${word(random)}`;
  }
  const least = numberOr(node["minLength"], 0);
  const most = numberOr(node["maxLength"], Number.POSITIVE_INFINITY);
  let text = word(random);
  while (text.length < least) text += ` ${word(random)}`;
  return text.slice(0, most);
}

function resolveRef(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Schema)[key];
  }
  return node;
}

const word = (random: RandomSource): string => pick(WORDS, random) as string;

function pick<T>(values: readonly T[], random: RandomSource): T | undefined {
  return values[Math.floor(random() * values.length)];
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}

/** A random number generator (mulberry32). Its numbers depend only on the seed. */
export function seededRandom(...parts: readonly (string | number)[]): RandomSource {
  let state = createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
