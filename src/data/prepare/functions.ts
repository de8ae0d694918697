import { createHash } from "node:crypto";
import path from "node:path";
import { formatTemplate, isTruthy, pyEquals, pyStr, strip } from "../../base/python/door.ts";
import { dumps, isObject, loads } from "../../base/python/json/door.ts";
import { PyFloat, PyRandom, parsePyFloat } from "../../base/python/numbers/door.ts";
import { compilePyRegex } from "../../base/python/re.ts";
import { csvRecords } from "../../config/formats/door.ts";
import { plainName, unpackText, xorText } from "./encoded-text.ts";
import type { FunctionTable } from "./expression.ts";
import { compareCells, memberOf, neededList, neededText } from "./values.ts";

export interface Tokenizer {
  encode(text: string): readonly number[];
  decode(tokens: readonly number[]): string;
}

export interface FunctionOptions {
  /** The generator that all rows share. */
  readonly random: PyRandom | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tokenizers by name, loaded beforehand. */
  readonly tokenizer: (name: string) => Tokenizer;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const letter = (index: unknown) => {
  const found = LETTERS[Number(index)];
  if (found === undefined) throw new Error(`there is no letter number ${pyStr(index)}`);
  return found;
};

/** The functions of prepare.yaml. All have Python's meaning. */
export function prepareFunctions({ random, env, tokenizer }: FunctionOptions): FunctionTable {
  return {
    text: (value) => pyStr(value),
    env: (name) => env[neededText(name)] ?? null,
    unpack_text: (value) => unpackText(neededText(value)),
    plain_name: (value) => plainName(neededText(value)),
    xor_text: (value, key) => xorText(neededText(value), neededText(key)),
    strip: (value, characters) => strip(neededText(value), characters as string | undefined),
    replace: (value, from, to) => neededText(value).replaceAll(neededText(from), () => neededText(to)),
    split: (value, mark) => neededText(value).split(neededText(mark)),
    before,
    after: (value, mark) => neededText(value).slice(before(value, mark).length + neededText(mark).length),
    number,
    re_sub: reSub,
    re_find: (pattern, value) =>
      compilePyRegex(neededText(pattern)).search(neededText(value))?.group(0) ?? null,
    re_group: (pattern, value, group = 1) =>
      compilePyRegex(neededText(pattern))
        .search(neededText(value))
        ?.group(group as number) ?? null,
    fill: (template, row) => formatTemplate(neededText(template), row as Record<string, unknown>),
    put: (template, ...values) =>
      neededText(template).replace(/\{(\d)\}/g, (whole, place: string) =>
        Number(place) < values.length ? pyStr(values[Number(place)]) : whole,
      ),
    stem: (file) => path.posix.basename(neededText(file), path.posix.extname(neededText(file))),
    letters: (items) => neededList(items).map((item, index) => ({ [letter(index)]: item })),
    lettered: (items, separator) =>
      neededList(items)
        .map((item, index) => `${letter(index)}${neededText(separator)}${pyStr(item)}`)
        .join("\n"),
    letter,
    letter_index: (name) => LETTERS.indexOf(neededText(name)),
    index_of: indexOf,
    flatten: (items) => neededList(items).flat(),
    without: (items, value) => withoutFirst(neededList(items), value),
    exclude: (items, values) =>
      neededList(items).filter((item) => !neededList(values).some((other) => pyEquals(item, other))),
    sort: (items) => neededList(items).toSorted(compareCells),
    sort_by: (items, key) =>
      neededList(items).toSorted((a, b) => compareCells(memberOf(a, key), memberOf(b, key))),
    merge: (...objects) => Object.assign({}, ...objects),
    omit: (object, names) =>
      Object.fromEntries(
        Object.entries(object as object).filter(([name]) => !neededList(names).includes(name)),
      ),
    csv: (value) => csvRecords(neededText(value)).filter((record) => record.length > 0),
    cell,
    keys: (object) => neededList(object),
    band: (value, limits, names) => {
      const place = neededList(limits).findIndex((limit) => compareCells(value, limit) < 0);
      return neededList(names).at(place);
    },
    has: (object, key) => isObject(object) && Object.hasOwn(object, pyStr(key)),
    pick: (object, names) =>
      Object.fromEntries(
        neededList(names).map((name) => [name, (object as Record<string, unknown>)[name as string] ?? null]),
      ),
    truthy: (value) => isTruthy(value),
    lookup: (table, key, other = null) => {
      const object = table as Record<string, unknown>;
      return Object.hasOwn(object, pyStr(key)) ? object[pyStr(key)] : other;
    },
    must,
    dumps: (value, options = {}) => {
      const { ensure_ascii = false, sort_keys = true } = options as {
        ensure_ascii?: boolean;
        sort_keys?: boolean;
      };
      return dumps(value, { ensureAscii: ensure_ascii, sortKeys: sort_keys });
    },
    loads: (value) => loads(neededText(value), { allowNonFinite: true }),
    uuid5: (name) => uuid5(neededText(name)),
    md5int: (value) => BigInt(`0x${createHash("md5").update(neededText(value)).digest("hex")}`),
    sha256: (value) => createHash("sha256").update(neededText(value)).digest("hex"),
    sha256int: (value, bytes) =>
      BigInt(
        `0x${createHash("sha256")
          .update(neededText(value))
          .digest("hex")
          .slice(0, 2 * Number(bytes))}`,
      ),
    shuffled: (items, seed) => {
      const generator = seed === undefined ? random : new PyRandom(seed as number | bigint);
      if (generator === undefined) throw new Error("shuffled needs `seed`, here or as its second argument");
      const copy = [...neededList(items)];
      generator.shuffle(copy);
      return copy;
    },
    tokens: (value, name) => {
      const { encode } = tokenizer(neededText(name));
      return [value].flat().reduce((sum: number, text) => sum + encode(neededText(text)).length, 0);
    },
    cut_tokens: (value, count, name) => {
      const { encode, decode } = tokenizer(neededText(name));
      const tokens = encode(neededText(value));
      return tokens.length <= Number(count) ? value : decode(tokens.slice(0, Number(count)));
    },
    language: (code) =>
      new Intl.DisplayNames("en", { type: "language", languageDisplay: "standard" }).of(
        neededText(code).replace("_", "-"),
      ),
    range: (start, stop) => {
      const [from, to] = stop === undefined ? [0, Number(start)] : [Number(start), Number(stop)];
      return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
    },
    zip: (...lists) =>
      neededList(lists[0]).map((_, index) => lists.map((list) => neededList(list)[index] ?? null)),
    today: () => new Date().toISOString().slice(0, 10),
    fail: (message) => {
      throw new Error(neededText(message));
    },
  };
}

/** A whole number, a number or the text of a cell. */
function cell(value: unknown): unknown {
  const text = strip(neededText(value));
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  return parsePyFloat(text) ?? value;
}

function before(value: unknown, mark: unknown): string {
  const at = neededText(value).indexOf(neededText(mark));
  if (at < 0) throw new Error(`the text does not contain '${neededText(mark)}'`);
  return neededText(value).slice(0, at);
}

function number(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const parsed = parsePyFloat(value);
  if (parsed === undefined) throw new Error(`'${value}' is not a number`);
  return parsed;
}

/** `re.sub`, with `\1` and `\g<name>` in the replacement. */
function reSub(pattern: unknown, replacement: unknown, value: unknown): string {
  const template = neededText(replacement);
  return compilePyRegex(neededText(pattern)).sub(neededText(value), (match) =>
    template.replace(/\\(?:(\d)|g<(\w+)>|(.))/g, (whole, digit?: string, name?: string, escaped?: string) => {
      if (digit !== undefined) return match.group(Number(digit)) ?? "";
      if (name !== undefined) return match.group(/^\d+$/.test(name) ? Number(name) : name) ?? "";
      return escaped === "n" ? "\n" : escaped === "\\" ? "\\" : whole;
    }),
  );
}

function indexOf(items: unknown, value: unknown): number {
  const index = neededList(items).findIndex((item) => pyEquals(item, value));
  if (index < 0) throw new Error(`${pyStr(value)} is not in the list`);
  return index;
}

function withoutFirst(items: readonly unknown[], value: unknown): unknown[] {
  const index = items.findIndex((item) => pyEquals(item, value));
  return index < 0 ? [...items] : items.toSpliced(index, 1);
}

function must(table: unknown, key: unknown): unknown {
  const name = pyStr(key);
  if (isObject(table) && Object.hasOwn(table, name)) return table[name];
  throw new Error(`the table has no '${name}'`);
}

const URL_NAMESPACE = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** `uuid.uuid5(uuid.NAMESPACE_URL, name)` as text. */
export function uuid5(name: string): string {
  const digest = createHash("sha1").update(URL_NAMESPACE).update(name).digest().subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return digest.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A double, so that its text has the `.0` that Python writes. */
export function asDouble(value: unknown): unknown {
  return typeof value === "number" && Number.isInteger(value) ? new PyFloat(value) : value;
}
