import { createHash } from "node:crypto";
import path from "node:path";
import { formatTemplate } from "../../base/python/format/format.ts";
import { dumps } from "../../base/python/json/json-dumps.ts";
import { loads } from "../../base/python/json/json-loads.ts";
import { isObject } from "../../base/python/json/json-object.ts";
import { parsePyFloat } from "../../base/python/numbers/parse-number.ts";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { PyRandom } from "../../base/python/numbers/random.ts";
import { compilePyRegex } from "../../base/python/re.ts";
import { pyStr } from "../../base/python/repr.ts";
import { isTruthy, pyEquals } from "../../base/python/truth.ts";
import { strip } from "../../base/python/whitespace.ts";
import { compareValues, type FunctionTable, listOf, textOf } from "./expression.ts";

export interface Tokenizer {
  encode(text: string): readonly number[];
  decode(tokens: readonly number[]): string;
}

export interface FunctionOptions {
  /** The generator that all rows share. */
  readonly random: PyRandom | undefined;
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
export function prepareFunctions({ random, tokenizer }: FunctionOptions): FunctionTable {
  return {
    text: (value) => pyStr(value),
    strip: (value, characters) => strip(textOf(value), characters as string | undefined),
    replace: (value, from, to) => textOf(value).replaceAll(textOf(from), () => textOf(to)),
    split: (value, mark) => textOf(value).split(textOf(mark)),
    before,
    after: (value, mark) => textOf(value).slice(before(value, mark).length + textOf(mark).length),
    number,
    re_sub: reSub,
    re_find: (pattern, value) => compilePyRegex(textOf(pattern)).search(textOf(value))?.group(0) ?? null,
    re_group: (pattern, value, group = 1) =>
      compilePyRegex(textOf(pattern))
        .search(textOf(value))
        ?.group(group as number) ?? null,
    fill: (template, row) => formatTemplate(textOf(template), row as Record<string, unknown>),
    stem: (file) => path.posix.basename(textOf(file), path.posix.extname(textOf(file))),
    letters: (items) => listOf(items).map((item, index) => ({ [letter(index)]: item })),
    lettered: (items, separator) =>
      listOf(items)
        .map((item, index) => `${letter(index)}${textOf(separator)}${pyStr(item)}`)
        .join("\n"),
    letter,
    letter_index: (name) => LETTERS.indexOf(textOf(name)),
    index_of: indexOf,
    flatten: (items) => listOf(items).flat(),
    without: (items, value) => withoutFirst(listOf(items), value),
    exclude: (items, values) =>
      listOf(items).filter((item) => !listOf(values).some((other) => pyEquals(item, other))),
    sort: (items) => listOf(items).toSorted(compareValues),
    keys: (object) => listOf(object),
    band: (value, limits, names) => {
      const place = listOf(limits).findIndex((limit) => compareValues(value, limit) < 0);
      return listOf(names).at(place);
    },
    has: (object, key) => isObject(object) && Object.hasOwn(object, pyStr(key)),
    pick: (object, names) =>
      Object.fromEntries(
        listOf(names).map((name) => [name, (object as Record<string, unknown>)[name as string] ?? null]),
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
    loads: (value) => loads(textOf(value), { allowNonFinite: true }),
    uuid5: (name) => uuid5(textOf(name)),
    md5int: (value) => BigInt(`0x${createHash("md5").update(textOf(value)).digest("hex")}`),
    sha256: (value) => createHash("sha256").update(textOf(value)).digest("hex"),
    shuffled: (items, seed) => {
      const generator = seed === undefined ? random : new PyRandom(seed as number | bigint);
      if (generator === undefined) throw new Error("shuffled needs `seed`, here or as its second argument");
      const copy = [...listOf(items)];
      generator.shuffle(copy);
      return copy;
    },
    tokens: (value, name) => {
      const { encode } = tokenizer(textOf(name));
      return [value].flat().reduce((sum: number, text) => sum + encode(textOf(text)).length, 0);
    },
    cut_tokens: (value, count, name) => {
      const { encode, decode } = tokenizer(textOf(name));
      const tokens = encode(textOf(value));
      return tokens.length <= Number(count) ? value : decode(tokens.slice(0, Number(count)));
    },
    language: (code) =>
      new Intl.DisplayNames("en", { type: "language", languageDisplay: "standard" }).of(
        textOf(code).replace("_", "-"),
      ),
    range: (start, stop) => {
      const [from, to] = stop === undefined ? [0, Number(start)] : [Number(start), Number(stop)];
      return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
    },
    zip: (...lists) => listOf(lists[0]).map((_, index) => lists.map((list) => listOf(list)[index] ?? null)),
    fail: (message) => {
      throw new Error(textOf(message));
    },
  };
}

function before(value: unknown, mark: unknown): string {
  const at = textOf(value).indexOf(textOf(mark));
  if (at < 0) throw new Error(`the text does not contain '${textOf(mark)}'`);
  return textOf(value).slice(0, at);
}

function number(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const parsed = parsePyFloat(value);
  if (parsed === undefined) throw new Error(`'${value}' is not a number`);
  return parsed;
}

/** `re.sub`, with `\1` and `\g<name>` in the replacement. */
function reSub(pattern: unknown, replacement: unknown, value: unknown): string {
  const template = textOf(replacement);
  return compilePyRegex(textOf(pattern)).sub(textOf(value), (match) =>
    template.replace(/\\(?:(\d)|g<(\w+)>|(.))/g, (whole, digit?: string, name?: string, escaped?: string) => {
      if (digit !== undefined) return match.group(Number(digit)) ?? "";
      if (name !== undefined) return match.group(/^\d+$/.test(name) ? Number(name) : name) ?? "";
      return escaped === "n" ? "\n" : escaped === "\\" ? "\\" : whole;
    }),
  );
}

function indexOf(items: unknown, value: unknown): number {
  const index = listOf(items).findIndex((item) => pyEquals(item, value));
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
