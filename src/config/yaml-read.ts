import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLParseError,
} from "yaml";
import { ConfigError, type Position } from "./errors.ts";
import { LineIndex } from "./line-index.ts";
import {
  type ConfigNode,
  type DictKey,
  type DictNode,
  dict,
  list,
  MAX_DEPTH,
  type Origin,
  type ScalarValue,
  type Source,
  scalar,
  setEntry,
} from "./node.ts";
import { floatValue, integerValue, plainScalar } from "./yaml-scalars.ts";

/** Values one file may hold after its aliases are expanded; real configs have a few thousand. */
const MAX_VALUES = 500_000;

/** What YAML 1.1 forbids in a stream: controls other than tab and line breaks, lone surrogates. */
const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** More open brackets than this at one place is no config; the parser would spend seconds on it and then give up. */
const MAX_OPEN_BRACKETS = 1000;

const TAG_PREFIX = "tag:yaml.org,2002:";

/** Reads one YAML document the way OmegaConf does. An empty text is an empty mapping. */
export function readYaml(text: string, source: Source): DictNode {
  const root = readYamlValue(text, source);
  if (root.kind === "dict") return root;
  if (root.kind === "scalar" && root.value === null) return dict(root.origin);
  // upstream: a file that is one bare word becomes a mapping with that key
  if (root.kind === "scalar" && typeof root.value === "string")
    return dict(root.origin, [[root.value, scalar(null, root.origin)]]);
  const found = root.kind === "list" ? "a list" : `the value ${String(root.value)}`;
  throw new ConfigError(`Config '${source.name}' must be a mapping of keys to values, but it is ${found}.`, {
    code: "CONFIG_YAML",
    position: { source: source.name, line: root.origin.line, column: root.origin.column },
  });
}

/** Reads one YAML document of any kind. */
export function readYamlValue(text: string, source: Source): ConfigNode {
  return new YamlReader(text.replace(/^\uFEFF/, ""), source).read();
}

class YamlReader {
  readonly #text: string;
  readonly #source: Source;
  readonly #lines: LineIndex;
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #values = 0;

  constructor(text: string, source: Source) {
    this.#text = text;
    this.#source = source;
    this.#lines = new LineIndex(text);
  }

  read(): ConfigNode {
    const forbidden = FORBIDDEN.exec(this.#text);
    if (forbidden !== null) {
      const code = (forbidden[0].codePointAt(0) ?? 0).toString(16).padStart(4, "0");
      throw this.#error(`character U+${code.toUpperCase()} is not allowed`, forbidden.index);
    }
    const tooDeep = offsetOfTooManyBrackets(this.#text);
    if (tooDeep !== undefined) throw this.#error("nested too deeply", tooDeep);
    return this.#convert(this.#parse(), this.#originAt(0), 0);
  }

  #parse(): Node | null {
    const document = parseDocument(this.#text, {
      version: "1.1",
      schema: "failsafe",
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    const first = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])[0];
    if (first !== undefined) throw this.#syntaxError(first, document.errors);
    return document.contents;
  }

  /** A stray `key: value` is reported by the parser where the text before it begins; what helps is the colon. */
  #syntaxError(error: YAMLParseError, all: readonly YAMLParseError[]): ConfigError {
    const [start] = error.pos;
    const multiline = all.find((other) => other.code === "MULTILINE_IMPLICIT_KEY" && other.pos[0] === start);
    if (multiline !== undefined)
      return this.#error("mapping values are not allowed here", multiline.pos[1], error);
    if (error.code === "BLOCK_AS_IMPLICIT_KEY")
      return this.#error("mapping values are not allowed here", this.#text.indexOf(":", start), error);
    if (error.code === "MULTIPLE_DOCS")
      return this.#error("expected a single document, but found another one", start, error);
    // The parser recurses, and reports its own stack overflow as a syntax error.
    const problem = /call stack/.test(error.message) ? "nested too deeply" : lowerFirst(error.message);
    return this.#error(problem, start, error);
  }

  #convert(node: Node | null | undefined, fallback: Origin, depth: number): ConfigNode {
    this.#values++;
    if (node === null || node === undefined) return scalar(null, fallback);
    const offset = node.range?.[0] ?? 0;
    if (this.#values > MAX_VALUES)
      throw this.#error(`aliases expand to more than ${MAX_VALUES} values`, offset);
    if (depth > MAX_DEPTH) throw this.#error(`nested deeper than ${MAX_DEPTH} levels`, offset);
    if (isAlias(node)) return this.#convert(this.#resolveAlias(node.source, offset), fallback, depth);
    if (this.#open.has(node)) throw this.#error("an anchor contains itself", offset);
    const anchor = "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    if (isScalar(node)) return this.#convertScalar(node, offset);
    this.#open.add(node);
    try {
      if (isMap(node)) return this.#convertMap(node, fallback, depth);
      if (isSeq(node)) {
        this.#expectTag(node.tag, "seq", offset);
        const origin = this.#originAt(offset);
        const items = node.items.map((item) => this.#convert(item as Node | null, origin, depth + 1));
        return list(fallback, items);
      }
    } finally {
      this.#open.delete(node);
    }
    throw this.#error("unexpected content", offset);
  }

  #convertMap(node: YAMLMap, fallback: Origin, depth: number): DictNode {
    this.#expectTag(node.tag, "map", node.range?.[0] ?? 0);
    const merged: [DictKey, ConfigNode][] = [];
    const own: [DictKey, ConfigNode][] = [];
    const seen = new Set<string>();
    for (const pair of node.items) {
      const keyNode = pair.key as Node | null;
      const offset = keyNode?.range?.[0] ?? node.range?.[0] ?? 0;
      const origin = this.#originAt(offset);
      const value = pair.value as Node | null;
      if (isMergeKey(keyNode)) {
        merged.push(...this.#mergedEntries(value, origin, depth, offset));
        continue;
      }
      const key = this.#convertKey(keyNode, origin, depth, offset);
      if (typeof key === "string") {
        if (seen.has(key)) throw this.#error(`found duplicate key '${key}'`, offset);
        seen.add(key);
      }
      own.push([key, this.#convert(value, origin, depth + 1)]);
    }
    const result = dict(fallback);
    for (const [key, value] of merged) setEntry(result.entries, key, value);
    for (const [key, value] of own) setEntry(result.entries, key, value);
    return result;
  }

  #convertKey(node: Node | null, origin: Origin, depth: number, offset: number): DictKey {
    const key = this.#convert(node, origin, depth + 1);
    if (key.kind !== "scalar") throw this.#error("a mapping key must be a single value", offset);
    if (key.value === null) throw this.#error("a mapping key must not be null", offset);
    if (typeof key.value === "object" || typeof key.value === "bigint") return Number(key.value);
    return key.value;
  }

  /** The entries a `<<` key brings in; the first mapping of a list wins, own keys win over all of them. */
  #mergedEntries(value: Node | null, origin: Origin, depth: number, offset: number): [DictKey, ConfigNode][] {
    const node = this.#convert(value, origin, depth + 1);
    const sources = node.kind === "list" ? node.items.toReversed() : [node];
    return sources.flatMap((source) => {
      if (source.kind !== "dict") throw this.#error("'<<' takes a mapping or a list of mappings", offset);
      return [...source.entries];
    });
  }

  #convertScalar(node: Node, offset: number): ConfigNode {
    const origin = this.#originAt(offset);
    const { value, type, tag } = node as { value: unknown; type?: string; tag?: string };
    const text = typeof value === "string" ? value : "";
    if (type === "PLAIN" && text.startsWith("?") && this.#insideFlow())
      throw this.#error("text that starts with '?' must be quoted inside { } and [ ]", offset);
    return scalar(this.#typed(text, type, tag, offset), origin);
  }

  #typed(text: string, type: string | undefined, tag: string | undefined, offset: number): ScalarValue {
    const plain = type === "PLAIN" || type === undefined;
    if (tag === undefined || tag === "!") return plain && tag === undefined ? plainScalar(text) : text;
    const name = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : undefined;
    if (name === "str") return text;
    const typed = plainScalar(text);
    if (name === "null") return null;
    if (name === "bool" && typeof typed === "boolean") return typed;
    if (name === "int") {
      const integer = integerValue(text);
      if (text !== "" && integer !== undefined) return integer;
    }
    if (name === "float" && typed !== null && typeof typed !== "boolean" && typeof typed !== "string")
      return typeof typed === "bigint" ? Number(typed) : floatValue(String(typed));
    throw this.#error(`the tag '${tag}' is not supported for this value`, offset);
  }

  /** Whether a scalar stands inside `{ }` or `[ ]`: only there the enclosing collection in progress is a flow one. */
  #insideFlow(): boolean {
    const enclosing = [...this.#open].at(-1);
    return enclosing !== undefined && "flow" in enclosing && enclosing.flow === true;
  }

  #resolveAlias(name: string, offset: number): Node {
    const target = this.#anchors.get(name);
    if (target === undefined) throw this.#error(`found undefined alias '${name}'`, offset);
    return target;
  }

  #expectTag(tag: string | undefined, name: string, offset: number): void {
    if (tag !== undefined && tag !== "!" && tag !== `${TAG_PREFIX}${name}`)
      throw this.#error(`the tag '${tag}' is not supported for this value`, offset);
  }

  #originAt(offset: number): Origin {
    return { source: this.#source, ...this.#lines.at(offset) };
  }

  #error(problem: string, offset: number, cause?: unknown): ConfigError {
    const { line, column } = this.#originAt(offset);
    const position: Position = { source: this.#source.name, line, column };
    const message = `Malformed YAML in '${this.#source.name}' at line ${line}, column ${column}: ${problem}`;
    return new ConfigError(message, { code: "CONFIG_YAML", position, cause });
  }
}

function offsetOfTooManyBrackets(text: string): number | undefined {
  let open = 0;
  for (let offset = 0; offset < text.length; offset++) {
    const character = text[offset];
    if (character === "[" || character === "{") open++;
    else if (character === "]" || character === "}") open = Math.max(open - 1, 0);
    if (open > MAX_OPEN_BRACKETS) return offset;
  }
  return undefined;
}

function isMergeKey(node: Node | null): boolean {
  return isScalar(node) && node.type === "PLAIN" && node.value === "<<" && node.tag === undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
