import { ConfigError, type Position, place } from "../errors.ts";
import {
  type ConfigNode,
  type DictKey,
  type DictNode,
  dict,
  listNode,
  type Origin,
  type ScalarValue,
  type Source,
  scalar,
  setEntry,
} from "../node.ts";
import { plainFromNode } from "../plain-data.ts";
import {
  coreTag,
  FORBIDDEN_CHARACTERS,
  isPlainWord,
  parseYaml,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from "./parser.ts";
import { floatValue, integerValue, plainScalar } from "./scalars.ts";
import { YamlSyntaxError } from "./scanner.ts";

/** Maximum values of a file after its aliases are expanded. Real configs have a few thousand. */
const MAX_VALUES = 200_000;
/** Maximum nesting after aliases are expanded. */
const MAX_EXPANDED_DEPTH = 400;

/** Reads one YAML document like OmegaConf. An empty text is an empty mapping. */
export function readYaml(text: string, source: Source): DictNode {
  const root = readYamlValue(text, source);
  if (root.kind === "dict") return root;
  if (root.kind === "scalar" && root.value === null) return dict(root.origin);
  // upstream: a file that is one bare word becomes a mapping with that key
  if (root.kind === "scalar" && typeof root.value === "string")
    return dict(root.origin, [[root.value, scalar(null, root.origin)]]);
  const found = root.kind === "list" ? "a list" : `the value ${String(root.value)}`;
  const position = { source: source.name, line: root.origin.line, column: root.origin.column };
  throw new ConfigError(
    `Config '${source.name}' must be a mapping of keys to values, but it is ${found}${place(position)}.`,
    { code: "CONFIG_YAML", position },
  );
}

/** Reads one YAML document of any kind. */
export function readYamlValue(text: string, source: Source): ConfigNode {
  const normalized = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const reader = new YamlReader(normalized, source);
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw reader.locate(error);
    throw error;
  }
}

/** Reads one YAML document into plain data. `name` is the source in errors. */
export function parseYamlText(text: string, name: string): unknown {
  return plainFromNode(readYamlValue(text, { kind: "file", name }));
}

class YamlReader {
  readonly #text: string;
  readonly #source: Source;
  readonly #lines: LineIndex;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #open = new Set<YamlNode>();
  #values = 0;

  constructor(text: string, source: Source) {
    this.#text = text;
    this.#source = source;
    this.#lines = new LineIndex(text);
  }

  read(): ConfigNode {
    const forbidden = FORBIDDEN_CHARACTERS.exec(this.#text);
    if (forbidden !== null) {
      const code = (forbidden[0].codePointAt(0) ?? 0).toString(16).padStart(4, "0");
      throw new YamlSyntaxError(`character U+${code.toUpperCase()} is not allowed`, forbidden.index);
    }
    const root = parseYaml(this.#text);
    return root === undefined
      ? scalar(null, this.#originAt(0))
      : this.#convert(root, this.#originAt(root.offset));
  }

  locate({ message, offset }: YamlSyntaxError): ConfigError {
    const { line, column } = this.#lines.at(offset);
    const position: Position = { source: this.#source.name, line, column };
    return new ConfigError(
      `Malformed YAML in '${this.#source.name}' at line ${line}, column ${column}: ${message}`,
      { code: "CONFIG_YAML", position },
    );
  }

  /** `place` is the position of the value's key. It is also the position of a container. */
  #convert(node: YamlNode, place: Origin): ConfigNode {
    if (++this.#values > MAX_VALUES)
      throw new YamlSyntaxError(`aliases expand to more than ${MAX_VALUES} values`, node.offset);
    if (node.kind === "alias") return this.#convert(this.#target(node.name, node.offset), place);
    if (this.#open.has(node)) throw new YamlSyntaxError("an anchor contains itself", node.offset);
    if (this.#open.size >= MAX_EXPANDED_DEPTH)
      throw new YamlSyntaxError(`nested deeper than ${MAX_EXPANDED_DEPTH} levels`, node.offset);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (node.kind === "scalar") return this.#convertScalar(node, place);
    this.#open.add(node);
    try {
      if (node.kind === "map") return this.#convertMap(node, place);
      expectTag(node, "seq");
      return listNode(
        place,
        node.items.map((item) => this.#convert(item, this.#originAt(item.offset))),
      );
    } finally {
      this.#open.delete(node);
    }
  }

  #convertMap(node: YamlMap, place: Origin): DictNode {
    expectTag(node, "map");
    const merged: [DictKey, ConfigNode][] = [];
    const own: [DictKey, ConfigNode][] = [];
    const seen = new Set<string>();
    for (const [keyNode, valueNode] of node.entries) {
      const origin = this.#originAt(keyNode.offset);
      if (isPlainWord(keyNode, "<<")) {
        merged.push(...this.#mergedEntries(valueNode, origin));
        continue;
      }
      const key = this.#convertKey(keyNode, origin);
      if (typeof key === "string") {
        if (seen.has(key)) throw new YamlSyntaxError(`found duplicate key '${key}'`, keyNode.offset);
        seen.add(key);
      }
      own.push([key, this.#convert(valueNode, origin)]);
    }
    const result = dict(place);
    for (const [key, value] of merged) setEntry(result.entries, key, value);
    for (const [key, value] of own) setEntry(result.entries, key, value);
    return result;
  }

  #convertKey(node: YamlNode, origin: Origin): DictKey {
    const key = this.#convert(node, origin);
    if (key.kind !== "scalar") throw new YamlSyntaxError("a mapping key must be a single value", node.offset);
    if (key.value === null) throw new YamlSyntaxError("a mapping key must not be null", node.offset);
    if (typeof key.value === "object" || typeof key.value === "bigint") return Number(key.value);
    return key.value;
  }

  /** The entries that a `<<` key merges. The first mapping of a list wins, and own keys win over all of them. */
  #mergedEntries(value: YamlNode, origin: Origin): [DictKey, ConfigNode][] {
    const node = this.#convert(value, origin);
    const sources = node.kind === "list" ? node.items.toReversed() : [node];
    return sources.flatMap((source) => {
      if (source.kind !== "dict")
        throw new YamlSyntaxError("'<<' takes a mapping or a list of mappings", value.offset);
      return [...source.entries];
    });
  }

  #convertScalar(node: YamlScalar, place: Origin): ConfigNode {
    const empty = node.plain && node.value === "";
    return scalar(typedValue(node), empty ? place : this.#originAt(node.offset));
  }

  #target(name: string, offset: number): YamlNode {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlSyntaxError(`found undefined alias '${name}'`, offset);
    return target;
  }

  #originAt(offset: number): Origin {
    return { source: this.#source, ...this.#lines.at(offset) };
  }
}

function typedValue({ value: text, plain, tag, offset }: YamlScalar): ScalarValue {
  if (tag === undefined) return plain ? plainScalar(text) : text;
  // upstream (PyYAML): a scalar with the non-specific tag is typed like one without tag and quotes
  if (tag === "!") return plainScalar(text);
  const name = coreTag(tag);
  if (name === "str") return text;
  if (name === "null") return null;
  const typed = plainScalar(text);
  if (name === "bool" && typeof typed === "boolean") return typed;
  const number = name === "int" ? integerValue(text) : name === "float" ? floatValue(text) : undefined;
  if (number !== undefined) return number;
  throw unsupportedTag(tag, offset);
}

function expectTag({ tag, offset }: YamlNode, name: string): void {
  if (tag !== undefined && tag !== "!" && coreTag(tag) !== name) throw unsupportedTag(tag, offset);
}

function unsupportedTag(tag: string, offset: number): YamlSyntaxError {
  return new YamlSyntaxError(`the tag '${tag}' is not supported for this value`, offset);
}

/** Converts offsets to lines and columns, which count from 1. */
class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  at(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
