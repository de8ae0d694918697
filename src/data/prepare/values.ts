import { lstrip, pyEquals, pyStr, pyTypeName, rstrip, splitWords, strip } from "../../base/python/door.ts";
import { dumps, isObject } from "../../base/python/json/door.ts";
import { isPyFloat, PyFloat, parsePyFloat } from "../../base/python/numbers/door.ts";

/** A member that is missing is null, as a missing value of a column is. */
export function memberOf(object: unknown, key: unknown): unknown {
  if (typeof object === "string" || Array.isArray(object)) {
    const items = typeof object === "string" ? [...object] : object;
    if (typeof key !== "number" && typeof key !== "boolean")
      throw new Error(`${pyTypeName(object)} has no member ${pyStr(key)}`);
    return items.at(Number(key)) ?? null;
  }
  if (!isObject(object)) throw new Error(`${pyTypeName(object)} has no member ${pyStr(key)}`);
  const name = pyStr(key);
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

export function slice(value: unknown, start: unknown, stop: unknown, step: unknown): unknown {
  const items = typeof value === "string" ? [...value] : neededList(value);
  let chosen = items.slice(
    (start as number | undefined) ?? undefined,
    (stop as number | undefined) ?? undefined,
  );
  if (step === -1) chosen = items.toReversed();
  else if (typeof step === "number" && step > 1) chosen = chosen.filter((_, index) => index % step === 0);
  return typeof value === "string" ? chosen.join("") : chosen;
}

type Method = (value: unknown, ...args: unknown[]) => unknown;

/** The methods of texts, lists and objects. */
export const METHODS: Readonly<Record<string, Method>> = {
  strip: (value, characters) => strip(neededText(value), characters as string | undefined),
  lstrip: (value, characters) => lstrip(neededText(value), characters as string | undefined),
  rstrip: (value, characters) => rstrip(neededText(value), characters as string | undefined),
  split: (value, mark, limit) => splitText(neededText(value), mark, limit),
  index: (value, item) => {
    const at =
      typeof value === "string"
        ? value.indexOf(neededText(item))
        : neededList(value).findIndex((other) => pyEquals(other, item));
    if (at < 0)
      throw new Error(`${pyStr(item)} is not in ${typeof value === "string" ? "the text" : "the list"}`);
    return at;
  },
  find: (value, part) => neededText(value).indexOf(neededText(part)),
  join: (value, items) => neededList(items).map(neededText).join(neededText(value)),
  capitalize: (value) => capitalized(neededText(value)),
  title: (value) => neededText(value).replace(/\p{L}+/gu, capitalized),
  isdigit: (value) => /^\p{Nd}+$/u.test(neededText(value)),
  lower: (value) => neededText(value).toLowerCase(),
  upper: (value) => neededText(value).toUpperCase(),
  replace: (value, from, to) => neededText(value).replaceAll(neededText(from), () => neededText(to)),
  startswith: (value, start) => neededText(value).startsWith(neededText(start)),
  endswith: (value, end) => neededText(value).endsWith(neededText(end)),
  get: (value, key, other = null) =>
    isObject(value) && Object.hasOwn(value, pyStr(key)) ? value[pyStr(key)] : other,
  items: (value) => Object.entries(objectOf(value)),
  keys: (value) => Object.keys(objectOf(value)),
  values: (value) => Object.values(objectOf(value)),
};

/** The filters that only look at their value. */
export const FILTERS: Readonly<Record<string, Method>> = {
  trim: (value, characters) => strip(neededText(value), characters as string | undefined),
  lower: (value) => pyStr(value).toLowerCase(),
  upper: (value) => pyStr(value).toUpperCase(),
  capitalize: (value) => capitalized(pyStr(value)),
  title: (value) => pyStr(value).replace(/[^\s]+/g, capitalized),
  string: (value) => pyStr(value),
  int: (value, other = 0) => wholeNumber(value) ?? other,
  float: (value, other = 0) => (typeof value === "string" ? (parsePyFloat(value) ?? other) : Number(value)),
  length: (value) => sizeOf(value),
  count: (value) => sizeOf(value),
  first: (value) => neededList(value)[0],
  last: (value) => neededList(value).at(-1),
  list: (value) => neededList(value),
  reverse: (value) =>
    typeof value === "string" ? [...value].toReversed().join("") : neededList(value).toReversed(),
  join: (value, mark = "") => neededList(value).map(pyStr).join(neededText(mark)),
  unique: (value) => unique(neededList(value)),
  sort: (value) => neededList(value).toSorted(compareCells),
  sum: (value) => neededList(value).reduce((total, item) => arithmetic("+", total, item), 0),
  replace: (value, from, to) => neededText(value).replaceAll(neededText(from), () => neededText(to)),
  default: (value, other = "") => value ?? other,
  tojson: (value) => dumps(value, { ensureAscii: false }),
  items: (value) => Object.entries(objectOf(value)),
};

/** `value is test`. */
export function runTest(test: string, value: unknown, other?: unknown): boolean {
  switch (test) {
    case "none":
    case "undefined":
      return value === null;
    case "defined":
      return value !== null;
    case "string":
      return typeof value === "string";
    case "number":
      return ["number", "bigint"].includes(typeof value) || value instanceof PyFloat;
    case "boolean":
      return typeof value === "boolean";
    case "mapping":
      return isObject(value);
    case "sequence":
      return Array.isArray(value) || typeof value === "string";
    case "equalto":
    case "eq":
      return pyEquals(value, other);
    case "ne":
      return !pyEquals(value, other);
    case "in":
      return contains(other, value);
    default:
      throw new Error(`there is no test '${test}'`);
  }
}

export function contains(container: unknown, value: unknown): boolean {
  if (typeof container === "string") return container.includes(neededText(value));
  if (isObject(container)) return Object.hasOwn(container, pyStr(value));
  return neededList(container).some((item) => pyEquals(item, value));
}

/** Texts by code point, numbers by value. */
export function compareCells(left: unknown, right: unknown): number {
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a - b;
  throw new Error(`${pyTypeName(left)} and ${pyTypeName(right)} have no order`);
}

function compareTexts(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (const [index, character] of a.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? -1);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function arithmetic(operator: string, left: unknown, right: unknown): unknown {
  if (operator === "+" && typeof left === "string" && typeof right === "string") return left + right;
  if (operator === "+" && Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined)
    throw new Error(`${pyTypeName(left)} ${operator} ${pyTypeName(right)} is not possible`);
  const value = calculate(operator, a, b);
  const isFloat = operator === "/" || isPyFloat(left) || isPyFloat(right);
  return isFloat && Number.isInteger(value) ? new PyFloat(value) : value;
}

function calculate(operator: string, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%":
      return a - b * Math.floor(a / b);
    default:
      throw new Error(`there is no operator '${operator}'`);
  }
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  return value instanceof PyFloat ? value.value : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" ? parsePyFloat(value) : numberOf(value);
  return number === undefined || !Number.isFinite(number) ? undefined : Math.trunc(number);
}

function unique(items: readonly unknown[]): unknown[] {
  return items.filter((item, index) => items.findIndex((other) => pyEquals(item, other)) === index);
}

/** `str.split`; after `limit` splits the rest stays whole. */
function splitText(text: string, mark: unknown, limit: unknown): string[] {
  if (mark === undefined || mark === null) return splitWords(text);
  const parts = text.split(neededText(mark));
  if (typeof limit !== "number" || limit < 0 || parts.length <= limit + 1) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(neededText(mark))];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}

function sizeOf(value: unknown): number {
  return typeof value === "string"
    ? [...value].length
    : isObject(value)
      ? Object.keys(value).length
      : neededList(value).length;
}

export function neededText(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error(`a text is needed, but this is ${pyTypeName(value)}`);
}

export function neededList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (isObject(value)) return Object.keys(value);
  throw new Error(`a list is needed, but this is ${pyTypeName(value)}`);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error(`an object is needed, but this is ${pyTypeName(value)}`);
}
