import { parseYaml, type YamlMap, type YamlNode, type YamlScalar } from "../config/yaml/parser.ts";
import { YamlSyntaxError } from "../config/yaml/tokens.ts";
import { PyFloat } from "../python/numbers/py-float.ts";
import { FormatError } from "./errors.ts";
import { isMapping, mappingOf, OpaqueValue } from "./mapping.ts";
import { scalarValue, typeOfWord } from "./yaml-scalar.ts";

/** Values a document may hold when every alias is written out. */
const maxValues = 1_000_000;
const tagPrefix = "tag:yaml.org,2002:";
const forbidden = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** A YAML 1.1 document as PyYAML's `safe_load` reads it; dates and other values JSON does not know are opaque. */
export function parseYamlValue(text: string): unknown {
  if (forbidden.test(text)) throw new FormatError("yaml", "special characters are not allowed");
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

/** A value and how many values it consists of when aliases are written out. */
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
      // An alias inside its own anchor finds this: a value that contains itself.
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
    // The tag `!` asks for the type a word has without quotes, quoted or not.
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

  /** The entries of a mapping: those merged in by `<<` come first, so that its own win. */
  private entries(node: YamlMap): { entries: Entry[]; size: number } {
    const merged: Entry[] = [];
    const own: Entry[] = [];
    let size = 1;
    for (const [keyNode, valueNode] of node.entries) {
      if (isWord(keyNode, "<<")) {
        const { value, size: added } = this.construct(valueNode);
        merged.push(...mergedEntries(value, valueNode));
        size += added;
        continue;
      }
      const key = isWord(keyNode, "=") ? { value: "=", size: 1 } : this.construct(keyNode);
      const value = this.construct(valueNode);
      own.push([hashable(key.value, keyNode.offset), value.value]);
      size += key.size + value.size;
    }
    return { entries: [...merged, ...own], size };
  }
}

function isWord(node: YamlNode, word: string): boolean {
  return node.kind === "scalar" && node.plain && node.value === word && node.tag === undefined;
}

/** Of several mappings the first wins. */
function mergedEntries(value: unknown, node: YamlNode): Entry[] {
  const sources: unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return sources.flatMap((source) => {
    if (!isMapping(source))
      throw new YamlSyntaxError("expected a mapping or list of mappings for merging", node.offset);
    return source instanceof Map ? [...source] : Object.entries(source);
  });
}

/** A key as a dict keeps it: 1 and 1.0 are one key; lists and dicts cannot be keys. */
function hashable(key: unknown, offset: number): unknown {
  if (Array.isArray(key) || isMapping(key)) throw new YamlSyntaxError("found unhashable key", offset);
  return key instanceof PyFloat ? key.value : key;
}

/** The type a tag asks for, or the one the node has without. */
function typeOf(tag: string | undefined, untagged: string): string {
  if (tag === undefined || tag === "!") return untagged;
  if (tag.startsWith("!!")) return tag.slice(2);
  return tag.startsWith(`!<${tagPrefix}`) ? tag.slice(tagPrefix.length + 2, -1) : tag;
}

function unknownTag(type: string, offset: number): YamlSyntaxError {
  return new YamlSyntaxError(`could not determine a constructor for the tag '${type}'`, offset);
}
