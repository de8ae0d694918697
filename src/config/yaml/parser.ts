import { MAX_CONFIG_DEPTH } from "../node.ts";
import { YamlScanner, type YamlToken, type YamlTokenKind } from "./scanner.ts";

interface YamlNodeBase {
  offset: number;
  anchor?: string;
  tag?: string;
}

type Properties = Pick<YamlNodeBase, "anchor" | "tag">;
const NO_PROPERTIES: Properties = {};

/** Characters that YAML 1.1 forbids: controls other than tab and line breaks, and lone surrogates. */
export const FORBIDDEN_CHARACTERS = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export type YamlScalar = YamlNodeBase & { kind: "scalar"; value: string; plain: boolean };
export type YamlMap = YamlNodeBase & { kind: "map"; entries: [YamlNode, YamlNode][] };
type YamlList = YamlNodeBase & { kind: "list"; items: YamlNode[] };
type YamlAlias = YamlNodeBase & { kind: "alias"; name: string };
export type YamlNode = YamlScalar | YamlMap | YamlList | YamlAlias;

/** The structure of a text with one YAML document; undefined when it is empty. Throws YamlSyntaxError. */
export function parseYaml(text: string): YamlNode | undefined {
  return new YamlParser(text).document();
}

class YamlParser {
  readonly #scanner: YamlScanner;
  #depth = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  document(): YamlNode | undefined {
    const directives = this.#skip("directive");
    const explicit = this.#accept("document start");
    if (directives && !explicit) this.#unexpected("expected '<document start>'");
    if (this.#at("stream end")) return undefined;
    const root = this.#at("document end", "document start") ? this.#empty() : this.#node("block");
    this.#skip("document end");
    if (!this.#at("stream end")) {
      const another = this.#at("document start", "directive");
      this.#unexpected(
        another ? "expected a single document, but found another one" : "expected '<document start>'",
        another,
      );
    }
    return root;
  }

  #node(style: "block" | "value" | "flow"): YamlNode {
    if (this.#at("alias")) return this.#alias();
    const { offset } = this.#scanner.peek();
    const { anchor, tag } = this.#properties();
    if (++this.#depth > MAX_CONFIG_DEPTH)
      this.#scanner.fail(`nested deeper than ${MAX_CONFIG_DEPTH} levels`, offset);
    try {
      return this.#content(style, { offset, anchor, tag });
    } finally {
      this.#depth--;
    }
  }

  #content(style: "block" | "value" | "flow", { offset, anchor, tag }: YamlNodeBase): YamlNode {
    const token = this.#scanner.peek();
    switch (token.kind) {
      case "scalar":
        this.#scanner.take();
        return { kind: "scalar", offset, anchor, tag, value: token.value, plain: token.plain };
      case "[":
        return { kind: "list", offset, anchor, tag, items: this.#flow("]", () => this.#flowItem()) };
      case "{":
        return { kind: "map", offset, anchor, tag, entries: this.#flow("}", () => this.#flowEntry()) };
      case "block sequence start":
        if (style === "flow") break;
        return { kind: "list", offset, anchor, tag, items: this.#blockItems() };
      case "block mapping start":
        if (style === "flow") break;
        return { kind: "map", offset, anchor, tag, entries: this.#blockEntries() };
      case "-":
        // The value of a block mapping may be a sequence at the mapping's own column.
        if (style !== "value") break;
        return { kind: "list", offset, anchor, tag, items: this.#dashItems("?", ":", "block end") };
    }
    if (anchor === undefined && tag === undefined) this.#unexpected("expected a value");
    return { kind: "scalar", offset, anchor, tag, value: "", plain: true };
  }

  #properties(): Properties {
    let properties = NO_PROPERTIES;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind !== "anchor" && token.kind !== "tag") return properties;
      if (properties[token.kind] !== undefined)
        this.#scanner.fail(`found a second ${token.kind}`, token.offset);
      properties = { ...properties, [token.kind]: token.value };
      this.#scanner.take();
    }
  }

  #alias(): YamlAlias {
    const token = this.#scanner.take();
    return { kind: "alias", offset: token.offset, name: "value" in token ? token.value : "" };
  }

  #blockItems(): YamlNode[] {
    this.#scanner.take();
    const items = this.#dashItems("block end");
    this.#expect("block end", "expected the list to end");
    return items;
  }

  #dashItems(...ends: YamlTokenKind[]): YamlNode[] {
    const items: YamlNode[] = [];
    while (this.#accept("-")) items.push(this.#at("-", ...ends) ? this.#empty() : this.#node("block"));
    return items;
  }

  #blockEntries(): [YamlNode, YamlNode][] {
    const entries: [YamlNode, YamlNode][] = [];
    this.#scanner.take();
    while (this.#accept("?")) entries.push(this.#pair("value", "?", ":", "block end"));
    this.#expect("block end", "expected the mapping to end");
    return entries;
  }

  /** A key and its value, which may both be empty. `ends` are the tokens after an empty one. */
  #pair(style: "value" | "flow", ...ends: YamlTokenKind[]): [YamlNode, YamlNode] {
    const key = this.#at(":", ...ends) ? this.#empty() : this.#node(style);
    const given = this.#accept(":") && !this.#at(...ends);
    return [key, given ? this.#node(style) : this.#empty()];
  }

  /** The members of a flow list or mapping, between its brackets. */
  #flow<Member>(close: "]" | "}", read: () => Member): Member[] {
    const members: Member[] = [];
    this.#scanner.take();
    while (!this.#accept(close)) {
      if (members.length > 0) {
        this.#expect(",", `expected ',' or '${close}'`);
        if (this.#accept(close)) break;
      }
      members.push(read());
    }
    return members;
  }

  #flowItem(): YamlNode {
    if (!this.#at("?")) return this.#node("flow");
    // `[a: b]` is a list of one mapping.
    const { offset } = this.#scanner.take();
    return { kind: "map", offset, entries: [this.#pair("flow", ",", "]")] };
  }

  #flowEntry(): [YamlNode, YamlNode] {
    if (this.#accept("?")) return this.#pair("flow", ",", "}");
    return [this.#node("flow"), this.#empty()];
  }

  #empty(): YamlScalar {
    return { kind: "scalar", offset: this.#scanner.peek().offset, value: "", plain: true };
  }

  #at(...kinds: YamlTokenKind[]): boolean {
    return kinds.includes(this.#scanner.peek().kind);
  }

  #accept(kind: YamlTokenKind): boolean {
    if (!this.#at(kind)) return false;
    this.#scanner.take();
    return true;
  }

  #skip(kind: YamlTokenKind): boolean {
    let any = false;
    while (this.#accept(kind)) any = true;
    return any;
  }

  #expect(kind: YamlTokenKind, problem: string): void {
    if (!this.#accept(kind)) this.#unexpected(problem);
  }

  #unexpected(problem: string, complete = false): never {
    const token = this.#scanner.peek();
    const message = complete ? problem : `${problem}, but found ${describe(token)}`;
    return this.#scanner.fail(message, token.offset);
  }
}

function describe(token: YamlToken): string {
  if (token.kind === "scalar") return token.value === "" ? "an empty text" : `'${token.value.slice(0, 40)}'`;
  if (token.kind === "stream end") return "the end of the file";
  if (token.kind.startsWith("block") || token.kind.startsWith("document")) return `a ${token.kind}`;
  if (token.kind === "?") return "'?'; put text that starts with it in quotes";
  return token.kind.length === 1 ? `'${token.kind}'` : `a ${token.kind}`;
}

const TAG_PREFIX = "tag:yaml.org,2002:";

/** `!!int` and `!<tag:yaml.org,2002:int>` are `int`; undefined for other tags. */
export function coreTag(tag: string): string | undefined {
  if (tag.startsWith("!!")) return tag.slice(2);
  return tag.startsWith(`!<${TAG_PREFIX}`) ? tag.slice(TAG_PREFIX.length + 2, -1) : undefined;
}

/** Whether a node is the given word, without quotes and tag. */
export function isPlainWord(node: YamlNode, word: string): boolean {
  return node.kind === "scalar" && node.plain && node.value === word && node.tag === undefined;
}
