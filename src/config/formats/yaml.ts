import { PyFloat } from "../../base/python/numbers/door.ts";
import {
  coreTag,
  FORBIDDEN_CHARACTERS,
  isPlainWord,
  parseYaml,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from "../yaml/parser.ts";
import { BOOLEANS, FLOAT, floatValue, INTEGER, integerValue, NULLS } from "../yaml/scalars.ts";
import { YamlSyntaxError } from "../yaml/scanner.ts";
import { FormatError } from "./errors.ts";
import { isMapping, mappingOf, OpaqueValue } from "./mapping.ts";

/** Maximum number of values in a document after its aliases are expanded. */
const maxValues = 1_000_000;

/** Reads a YAML 1.1 document like PyYAML's `safe_load`. Dates and other values without a JSON type are opaque. */
export function parseYamlValue(text: string): unknown {
  if (FORBIDDEN_CHARACTERS.test(text)) throw new FormatError("yaml", "special characters are not allowed");
  try {
    const root = parseYaml(text.replace(/^\uFEFF/, "").replace(/\r\n?|[\x85\u2028\u2029]/g, "\n"));
    return root === undefined ? null : new Constructor().construct(root).value;
  } catch (error) {
    if (error instanceof YamlSyntaxError) {
      throw new FormatError("yaml", `${error.message} at character ${error.offset + 1}`);
    }
    throw error;
  }
}

/** A value, and the number of values in it after its aliases are expanded. */
interface Constructed {
  value: unknown;
  size: number;
}

type Entry = readonly [unknown, unknown];

class Constructor {
  private readonly anchors = new Map<string, Constructed | undefined>();
  private total = 0;

  construct(node: YamlNode): Constructed {
    if (node.kind === "alias") return this.count(this.target(node.name, node.offset));
    const { anchor } = node;
    if (anchor !== undefined) {
      if (this.anchors.has(anchor))
        throw new YamlSyntaxError(`found duplicate anchor '${anchor}'`, node.offset);
      // An alias inside its own anchor finds undefined: the value contains itself.
      this.anchors.set(anchor, undefined);
    }
    const constructed = this.count(this.content(node));
    if (anchor !== undefined) this.anchors.set(anchor, constructed);
    return constructed;
  }

  private count(constructed: Constructed): Constructed {
    this.total += constructed.size;
    if (this.total > maxValues) throw new FormatError("yaml", `more than ${maxValues} values`);
    return constructed;
  }

  private target(name: string, offset: number): Constructed {
    if (!this.anchors.has(name)) throw new YamlSyntaxError(`found undefined alias '${name}'`, offset);
    return this.anchors.get(name) ?? { value: new OpaqueValue("recursive", name), size: 1 };
  }

  private content(node: Exclude<YamlNode, { kind: "alias" }>): Constructed {
    switch (node.kind) {
      case "scalar":
        return { value: this.scalar(node), size: 1 };
      case "list":
        return this.list(node.items, typeOf(node.tag, "seq"), node.offset);
      case "map":
        return this.map(node);
    }
  }

  private scalar({ tag, plain, value: text, offset }: YamlScalar): unknown {
    // A scalar with the tag `!` has the type of the same word without quotes.
    const untagged = (plain && tag === undefined) || tag === "!" ? typeOfWord(text) : "str";
    const type = typeOf(tag, untagged);
    const value = scalarValue(type, text);
    if (value === undefined) throw new YamlSyntaxError(`'${text.slice(0, 40)}' is not a ${type}`, offset);
    return value;
  }

  private list(nodes: readonly YamlNode[], type: string, offset: number): Constructed {
    const items = nodes.map((node) => this.construct(node));
    const size = items.reduce((sum, item) => sum + item.size, 1);
    if (type === "seq") return { value: items.map((item) => item.value), size };
    if (type !== "omap" && type !== "pairs") throw unknownTag(type, offset);
    const pairs = nodes.map((node) => {
      if (node.kind !== "map" || node.entries.length !== 1) {
        throw new YamlSyntaxError("expected a mapping of length 1", node.offset);
      }
      return new OpaqueValue("tuple", "");
    });
    return { value: pairs, size };
  }

  private map(node: YamlMap): Constructed {
    const type = typeOf(node.tag, "map");
    const { entries, size } = this.entries(node);
    if (type === "set") return { value: new OpaqueValue("set", ""), size };
    if (type !== "map") throw unknownTag(type, node.offset);
    return { value: mappingOf(entries), size };
  }

  /** The entries of a mapping. Those that `<<` merges come first, so that the own entries win. */
  private entries(node: YamlMap): { entries: Entry[]; size: number } {
    const merged: Entry[] = [];
    const own: Entry[] = [];
    let size = 1;
    for (const [keyNode, valueNode] of node.entries) {
      if (isPlainWord(keyNode, "<<")) {
        const { value, size: added } = this.construct(valueNode);
        merged.push(...mergedEntries(value, valueNode));
        size += added;
        continue;
      }
      const key = isPlainWord(keyNode, "=") ? { value: "=", size: 1 } : this.construct(keyNode);
      const value = this.construct(valueNode);
      own.push([hashable(key.value, keyNode.offset), value.value]);
      size += key.size + value.size;
    }
    return { entries: [...merged, ...own], size };
  }
}

/** The entries of a `<<` value: a mapping, or a list of mappings of which the first wins. */
function mergedEntries(value: unknown, node: YamlNode): Entry[] {
  const sources: unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return sources.flatMap((source) => {
    if (!isMapping(source))
      throw new YamlSyntaxError("expected a mapping or list of mappings for merging", node.offset);
    return source instanceof Map ? [...source] : Object.entries(source);
  });
}

/** The key of a dict: 1 and 1.0 are the same key, and lists and dicts cannot be keys. */
function hashable(key: unknown, offset: number): unknown {
  if (Array.isArray(key) || isMapping(key)) throw new YamlSyntaxError("found unhashable key", offset);
  return key instanceof PyFloat ? key.value : key;
}

/** The type that a tag names; `untagged` without a tag. */
function typeOf(tag: string | undefined, untagged: string): string {
  return tag === undefined || tag === "!" ? untagged : (coreTag(tag) ?? tag);
}

function unknownTag(type: string, offset: number): YamlSyntaxError {
  return new YamlSyntaxError(`could not determine a constructor for the tag '${type}'`, offset);
}

/** The types of scalars in YAML 1.1, without the prefix of their tags. */
type ScalarType = "null" | "bool" | "int" | "float" | "timestamp" | "merge" | "value" | "str";

const timestamp =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(?:Z|[-+](\d\d?)(?::(\d\d))?))?)?$/;
const shortDate = /^\d{4}-\d\d-\d\d$/;
/** A longer scalar is always a text. */
const maxTyped = 10_000;

/** The type of a word without quotes and tag. */
function typeOfWord(text: string): ScalarType {
  if (text.length > maxTyped) return "str";
  if (NULLS.has(text)) return "null";
  if (BOOLEANS.has(text)) return "bool";
  if (text === "<<") return "merge";
  if (text === "=") return "value";
  if (!/^[-+.0-9]/.test(text)) return "str";
  if (INTEGER.test(text)) return "int";
  if (FLOAT.test(text)) return "float";
  return shortDate.test(text) || isFullTimestamp(text) ? "timestamp" : "str";
}

/** Whether a text is a date with a time. Its month and day may have one digit; those of a date alone may not. */
function isFullTimestamp(text: string): boolean {
  return timestamp.exec(text)?.[4] !== undefined;
}

/** The value of a scalar of a type; undefined where Python raises. */
function scalarValue(type: string, text: string): unknown {
  switch (type) {
    case "null":
      return null;
    case "bool":
      return BOOLEANS.get(text.toLowerCase());
    case "int":
      return integerValue(text);
    case "float":
      return floatValue(text);
    case "timestamp":
      return timestampValue(text);
    case "binary":
      return /^[A-Za-z0-9+/=\s]*$/.test(text) ? new OpaqueValue("bytes", text) : undefined;
    case "str":
      return text;
    default:
      return undefined;
  }
}

/** A date or time; undefined for one that does not exist, such as February 30th. */
function timestampValue(text: string): OpaqueValue | undefined {
  const [, year = "", month = "", day = "", hour, minute, second, , offsetHours, offsetMinutes] =
    timestamp.exec(text) ?? [];
  if (year === "") return undefined;
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(year) < 1 || Number(month) < 1 || Number(month) > 12) return undefined;
  if (Number(day) < 1 || Number(day) > days) return undefined;
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined;
  if (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0) >= 24 * 60) return undefined;
  return new OpaqueValue(hour === undefined ? "date" : "datetime", text);
}
