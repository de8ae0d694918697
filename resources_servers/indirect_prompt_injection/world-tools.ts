/**
 * The few kinds of tools that all worlds consist of. A world is a JSON object with collections of records by id. Errors have
 * the names of Python exceptions, because models see them.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "nemo-gym";
import { isObject, isTruthy, pyEquals, pyStr, pyTypeName } from "nemo-gym/python";
import { setMember } from "nemo-gym/verify";

/** An exception inside a tool. */
export class WorldError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

export type Arguments = Readonly<Record<string, unknown>>;
export type Run = (world: JsonObject, given: Arguments) => unknown;

export interface Tool {
  required: string[];
  optional: string[];
  call: Run;
}

/**
 * A tool with its parameters: `name` is required, `name?` optional, `name=text` has a default, `*` ignores all others.
 *
 * @example
 * tool("order_id priority=medium note? *", (world, { order_id }) => …);
 */
export function tool(signature: string, run: Run): Tool {
  const words = signature.split(" ").filter((word) => word !== "");
  const open = words.includes("*");
  const required = words.filter((word) => /^\w+$/.test(word));
  const defaults = Object.fromEntries(
    words.filter((word) => word.includes("=")).map((word) => word.split("=")),
  );
  const optional = words.flatMap((word) => /^(\w+)[?=]/.exec(word)?.[1] ?? []);
  return {
    required,
    optional,
    call(world, given) {
      const known = new Set([...required, ...optional]);
      const unexpected = Object.keys(given).find((name) => name === "env" || !(open || known.has(name)));
      if (unexpected !== undefined) throw new WorldError("TypeError", `unexpected argument '${unexpected}'`);
      const missing = required.find((name) => !Object.hasOwn(given, name));
      if (missing !== undefined) throw new WorldError("TypeError", `missing argument '${missing}'`);
      return run(world, { ...defaults, ...given });
    },
  };
}

/** Collections without which a call fails; the others may be missing. */
const NEEDED = new Set(["patients", "appointments"]);

function collection(world: JsonObject, name: string): JsonObject {
  if (!Object.hasOwn(world, name)) {
    if (NEEDED.has(name)) throw new WorldError("KeyError", `'${name}'`);
    return {};
  }
  const records = world[name];
  if (!isObject(records)) throw lacks(records, "values");
  return records;
}

function recordsOf(world: JsonObject, name: string): JsonObject[] {
  return Object.values(collection(world, name)) as JsonObject[];
}

function find(world: JsonObject, name: string, id: unknown): JsonObject | undefined {
  const records = collection(world, name);
  if (typeof id === "object" && id !== null)
    throw new WorldError("TypeError", `unhashable type: '${pyTypeName(id)}'`);
  return typeof id === "string" && Object.hasOwn(records, id) ? (records[id] as JsonObject) : undefined;
}

function fieldOf(record: JsonObject, field: string, fallback: unknown = null): unknown {
  return Object.hasOwn(record, field) ? record[field] : fallback;
}

function lacks(value: unknown, attribute: string): WorldError {
  return new WorldError("AttributeError", `'${pyTypeName(value)}' object has no attribute '${attribute}'`);
}

function lower(value: unknown): string {
  if (typeof value !== "string") throw lacks(value, "lower");
  return value.toLowerCase();
}

/** Whether `left` is smaller. Only texts or only numbers can be compared. */
function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === "string" && typeof right === "string") return left < right;
  if (isNumber(left) && isNumber(right)) return Number(left) < Number(right);
  throw new WorldError("TypeError", `cannot compare '${pyTypeName(left)}' and '${pyTypeName(right)}'`);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Fills `{name}` in a reply. */
function fill(reply: string, values: Arguments): string {
  return reply.replace(/\{(\w+)\}/g, (_, name: string) => written(values[name]));
}

/** The text of a value in a reply. Integers this large were written with an exponent. */
function written(value: unknown): string {
  return typeof value === "number" && Math.abs(value) >= 1e16 ? pyStr(value.toExponential()) : pyStr(value);
}

export function newId(prefix: string): string {
  return prefix + randomBytes(3).toString("hex").toUpperCase();
}

// Readers.

/** The record with an id. */
export function get(name: string, key: string, noun: string): Tool {
  return tool(key, (world, given) => find(world, name, given[key]) ?? notFound(noun, given[key]));
}

export function notFound(noun: string, id: unknown): JsonObject {
  return { error: `${noun} ${written(id)} not found.` };
}

/** The first record of a shipment. */
export function firstOf(name: string, key: string, noun: string): Tool {
  return tool(
    key,
    (world, given) =>
      recordsOf(world, name).find((record) => pyEquals(fieldOf(record, key), given[key])) ?? {
        error: `No ${noun} found for shipment ${written(given[key])}.`,
      },
  );
}

/** Whether a record fits the value of a parameter. */
export interface Filter {
  fits(record: JsonObject, wanted: unknown): boolean;
  /** Whether a value such as 0 or false filters too. */
  always?: boolean;
}

export const equals = (field: string): Filter => ({
  fits: (record, wanted) => pyEquals(fieldOf(record, field), wanted),
});

/** The same text apart from case. */
export const same = (field: string): Filter => ({
  fits: (record, wanted) => lower(fieldOf(record, field, "")) === lower(wanted),
});

/** One of the fields contains the text, apart from case. */
export const contains = (...fields: string[]): Filter => ({
  fits(record, wanted) {
    const text = lower(wanted);
    return fields.some((field) => lower(fieldOf(record, field, "")).includes(text));
  },
});

export const from = (field: string): Filter => ({
  fits: (record, wanted) => !isLess(fieldOf(record, field, ""), wanted),
});

export const until = (field: string): Filter => ({
  fits: (record, wanted) => !isLess(wanted, fieldOf(record, field, "")),
});

export const atLeast = (field: string): Filter =>
  always({ fits: (record, wanted) => !isLess(fieldOf(record, field, 0), wanted) });

export const atMost = (field: string): Filter =>
  always({ fits: (record, wanted) => !isLess(wanted, fieldOf(record, field, 0)) });

export const below = (field: string): Filter =>
  always({ fits: (record, wanted) => isLess(fieldOf(record, field, 0), wanted) });

/** Filters with empty values too. */
export const always = (filter: Filter): Filter => ({ ...filter, always: true });

/** The name of a person contains the text. */
export const fullName: Filter = {
  fits: (record, wanted) =>
    `${written(fieldOf(record, "first_name", ""))} ${written(fieldOf(record, "last_name", ""))}`
      .toLowerCase()
      .includes(lower(wanted)),
};

/** The name or one of the conditions of a patient contains the text. */
export const nameOrCondition: Filter = {
  fits(record, wanted) {
    const conditions = fieldOf(record, "conditions", []) as unknown[];
    return (
      contains("name").fits(record, wanted) ||
      conditions.some((condition) => lower(condition).includes(lower(wanted)))
    );
  },
  always: true,
};

export function select(
  records: JsonObject[],
  given: Arguments,
  filters: Record<string, Filter>,
): JsonObject[] {
  const used = Object.entries(filters).filter(([name, { always }]) =>
    always ? isSet(given[name]) : isTruthy(given[name] ?? null),
  );
  return records.filter((record) => used.every(([name, filter]) => filter.fits(record, given[name])));
}

/** The records that fit the given parameters; `fields` limits what is shown of them. */
export function list(
  name: string,
  signature: string,
  filters: Record<string, Filter> = {},
  fields?: string[],
): Tool {
  return tool(signature, (world, given) => {
    const found = select(recordsOf(world, name), given, filters);
    return fields ? found.map((record) => pick(record, fields)) : found;
  });
}

function pick(record: JsonObject, fields: readonly string[]): JsonObject {
  const missing = fields.find((field) => !Object.hasOwn(record, field));
  if (missing !== undefined) throw new WorldError("KeyError", `'${missing}'`);
  return Object.fromEntries(fields.map((field) => [field, record[field]]));
}

// Writers.

/** Sets fields of a record. `name?` is set if it is given and not empty, `name+` if it is given. */
export function update(name: string, key: string, noun: string, fields: string, reply: string): Tool {
  const signature = fields.replaceAll("+", "?");
  return tool(`${key} ${signature}`, (world, given) => {
    const record = find(world, name, given[key]);
    if (!record) return `Error: ${noun} ${written(given[key])} not found.`;
    assign(record, fields, given);
    return fill(reply, given);
  });
}

/** Adds a line to a field of a record. */
export function append(
  name: string,
  key: string,
  noun: string,
  [parameter, field]: readonly [string, string],
  reply: string,
): Tool {
  return tool(`${key} ${parameter}`, (world, given) => {
    const record = find(world, name, given[key]);
    if (!record) return `Error: ${noun} ${written(given[key])} not found.`;
    const before = fieldOf(record, field, "");
    record[field] = isTruthy(before) ? `${textOf(before)}\n${textOf(given[parameter])}` : given[parameter];
    return fill(reply, given);
  });
}

function textOf(value: unknown): string {
  if (typeof value !== "string")
    throw new WorldError("TypeError", `can only concatenate str, not '${pyTypeName(value)}'`);
  return value;
}

/**
 * Creates a record under a new id. `name=text` is a fixed value, `name?` is written if it is not empty, `name+` if it is given. The
 * reply is a text, or the record if there is none.
 */
export function create(
  name: string,
  [key, prefix]: readonly [string, string],
  signature: string,
  fields: string,
  reply?: string,
): Tool {
  return tool(signature, (world, given) => {
    const id = newId(prefix);
    const record: JsonObject = { [key]: id };
    assign(record, fields, given);
    add(world, name, id, record);
    return reply === undefined ? record : fill(reply, { ...given, [key]: id });
  });
}

export function add(world: JsonObject, name: string, id: string, record: JsonObject): void {
  if (!Object.hasOwn(world, name) && !NEEDED.has(name)) world[name] = {};
  setMember(collection(world, name), id, record);
}

export function assign(record: JsonObject, fields: string, given: Arguments): void {
  for (const word of fields.split(" ")) {
    const [, name = "", mark = "", constant] = /^(\w+)([?+=*]?)(.*)$/.exec(word) ?? [];
    if (mark === "=") record[name] = constant;
    else if (mark === "?" ? isTruthy(given[name] ?? null) : mark === "+" ? isSet(given[name]) : name !== "")
      record[name] = given[name];
  }
}

/** Notes something that leaves the world, such as an offer. */
export function send(type: string, fields: string, reply: string): Tool {
  return tool(fields, (world, given) => {
    const action: JsonObject = { type };
    assign(action, fields, given);
    if (!Object.hasOwn(world, "sent_actions")) world["sent_actions"] = [];
    push(world["sent_actions"], action);
    return fill(reply, given);
  });
}

export function push(target: unknown, item: unknown): void {
  if (!Array.isArray(target)) throw lacks(target, "append");
  target.push(item);
}

export { fill, find, written };
