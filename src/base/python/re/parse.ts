import { ignoringCase } from "./characters.ts";
import { type AssertionKind, type ParsedPattern, type PatternNode, widthOf } from "./nodes.ts";
import { categoryOf, parseSet, readEscapedCodePoint } from "./parse-set.ts";
import { PatternSource } from "./pattern-source.ts";

export interface Flags {
  ignoreCase: boolean;
  multiline: boolean;
  dotAll: boolean;
  verbose: boolean;
  ascii: boolean;
}

const flagLetters: Record<string, keyof Flags> = {
  i: "ignoreCase",
  m: "multiline",
  s: "dotAll",
  x: "verbose",
  a: "ascii",
};
const newline = 0x0a;
const maxRepeat = 0xffff_ffff;
/** Maximum nesting of groups, because the parser and the compiler recurse. */
const maxNesting = 200;

/** Parses a pattern in the dialect of Python's `re` (3.11 and later). */
export function parsePattern(pattern: string, flags: Flags): ParsedPattern {
  return new Parser(pattern, { ...flags }).parse();
}

class Parser {
  private readonly source: PatternSource;
  private flags: Flags;
  private groups = 0;
  private nesting = 0;
  private readonly names = new Map<string, number>();
  private readonly openGroups = new Set<number>();
  private readonly groupWidths = new Map<number, readonly [number, number]>();
  private lookbehindFloor: number | undefined;
  private readonly conditionals: { index: number; position: number }[] = [];

  constructor(pattern: string, flags: Flags) {
    this.source = new PatternSource(pattern);
    this.flags = flags;
  }

  parse(): ParsedPattern {
    const root = this.choice();
    if (!this.source.done) this.source.fail("unbalanced parenthesis");
    for (const { index, position } of this.conditionals) {
      if (index > this.groups) this.source.fail(`invalid group reference ${index}`, position);
    }
    return { root, groups: this.groups, names: this.names };
  }

  private choice(): PatternNode {
    if (++this.nesting > maxNesting) this.source.fail("too many nested groups");
    const items = [this.sequence()];
    while (this.source.take("|")) items.push(this.sequence());
    this.nesting--;
    return items.length === 1 && items[0] !== undefined ? items[0] : { type: "choice", items };
  }

  private sequence(): PatternNode {
    const items: PatternNode[] = [];
    for (;;) {
      if (this.flags.verbose) this.skipVerbose();
      const next = this.source.peek();
      if (next === undefined || next === "|" || next === ")") break;
      const quantifier = this.quantifier();
      if (quantifier) items.push(this.repeated(items.pop(), quantifier));
      else {
        const item = this.item(items.length === 0 && this.nesting === 1);
        if (item !== undefined) items.push(item);
      }
    }
    if (items.length === 1 && items[0] !== undefined) return items[0];
    return items.length === 0 ? { type: "empty" } : { type: "sequence", items };
  }

  private skipVerbose(): void {
    for (;;) {
      const next = this.source.peek();
      if (next !== undefined && " \t\n\r\v\f".includes(next)) this.source.next();
      else if (next === "#") {
        while (!this.source.done && this.source.next() !== "\n");
      } else return;
    }
  }

  /** One item without its quantifier; undefined for a comment or global flags, which match nothing. */
  private item(first: boolean): PatternNode | undefined {
    const start = this.source.position;
    const character = this.source.next();
    switch (character) {
      case "\\":
        return this.escape(start);
      case "[":
        return { type: "set", test: parseSet(this.source, this.flags, start) };
      case ".":
        return { type: "set", test: this.flags.dotAll ? () => true : (codePoint) => codePoint !== newline };
      case "^":
        return this.assertion(this.flags.multiline ? "line-start" : "text-start");
      case "$":
        return this.assertion(this.flags.multiline ? "line-end" : "text-end-or-last-newline");
      case "(":
        return this.group(start, first);
      default:
        return this.literal(character.codePointAt(0) ?? 0);
    }
  }

  private literal(codePoint: number): PatternNode {
    const { ignoreCase, ascii } = this.flags;
    if (!ignoreCase) return { type: "char", codePoint, ignoreCase: false };
    if (!ascii) return { type: "char", codePoint, ignoreCase: true };
    return { type: "set", test: ignoringCase((other) => other === codePoint, true) };
  }

  private assertion(kind: AssertionKind): PatternNode {
    return { type: "assertion", kind, ascii: this.flags.ascii };
  }

  private escape(start: number): PatternNode {
    const letter = this.source.next("bad escape (end of pattern)", start);
    switch (letter) {
      case "A":
        return this.assertion("text-start");
      case "Z":
        return this.assertion("text-end");
      case "b":
        return this.assertion("word-boundary");
      case "B":
        return this.assertion("not-word-boundary");
    }
    const category = categoryOf(letter, this.flags.ascii);
    if (category) return { type: "set", test: category };
    if (letter >= "1" && letter <= "9") {
      const reference = this.numericReference(letter, start);
      if (reference) return reference;
    }
    return this.literal(readEscapedCodePoint(this.source, letter, start, false));
  }

  /** A reference to a group, `\1` to `\99`; undefined for three octal digits, which are a character. */
  private numericReference(first: string, start: number): PatternNode | undefined {
    let digits = first;
    const second = this.source.peek();
    if (second !== undefined && second >= "0" && second <= "9") {
      digits += this.source.next();
      const third = this.source.peek();
      if (third !== undefined && /^[0-3][0-7]{2}$/.test(digits + third)) {
        this.source.position = start + 2;
        return undefined;
      }
    }
    return this.reference(Number(digits), start);
  }

  private reference(index: number, start: number): PatternNode {
    if (index > this.groups) this.source.fail(`invalid group reference ${index}`, start);
    if (this.openGroups.has(index)) this.source.fail("cannot refer to an open group", start);
    if (this.lookbehindFloor !== undefined && index >= this.lookbehindFloor) {
      this.source.fail("cannot refer to group defined in the same lookbehind subpattern", start);
    }
    return { type: "backreference", index, ignoreCase: this.flags.ignoreCase };
  }

  private repeated(
    item: PatternNode | undefined,
    quantifier: { min: number; max: number; position: number },
  ): PatternNode {
    const { min, max, position } = quantifier;
    if (item === undefined || item.type === "assertion")
      return this.source.fail("nothing to repeat", position);
    if (item.type === "repeat") this.source.fail("multiple repeat", position);
    const mode = this.source.take("?") ? "lazy" : this.source.take("+") ? "possessive" : "greedy";
    return { type: "repeat", body: item, min, max, mode };
  }

  private quantifier(): { min: number; max: number; position: number } | undefined {
    const position = this.source.position;
    if (this.source.take("*")) return { min: 0, max: Number.POSITIVE_INFINITY, position };
    if (this.source.take("+")) return { min: 1, max: Number.POSITIVE_INFINITY, position };
    if (this.source.take("?")) return { min: 0, max: 1, position };
    if (!this.source.take("{")) return undefined;
    const low = this.source.takeWhile(isDecimal);
    const comma = this.source.take(",");
    const high = comma ? this.source.takeWhile(isDecimal) : low;
    if (!this.source.take("}") || (low === "" && !comma)) {
      this.source.position = position;
      return undefined;
    }
    const min = low === "" ? 0 : Number(low);
    const max = high === "" ? Number.POSITIVE_INFINITY : Number(high);
    if (min >= maxRepeat || (max >= maxRepeat && max !== Number.POSITIVE_INFINITY)) {
      this.source.fail("the repetition number is too large", position);
    }
    if (max < min) this.source.fail("min repeat greater than max repeat", position);
    return { min, max, position };
  }

  private group(start: number, first: boolean): PatternNode | undefined {
    if (!this.source.take("?")) return this.capture(undefined, start);
    const kind = this.source.next("unexpected end of pattern");
    switch (kind) {
      case ":":
        return this.wrapped(this.closed(this.scoped(), start));
      case ">":
        return this.closed({ type: "atomic", body: this.scoped() }, start);
      case "#":
        while (this.source.next("missing ), unterminated comment", start) !== ")");
        return undefined;
      case "=":
      case "!":
        return this.closed({ type: "look", ahead: true, negative: kind === "!", body: this.scoped() }, start);
      case "<":
        return this.lookbehind(start);
      case "P":
        return this.named(start);
      case "(":
        return this.conditional(start);
      default:
        return this.inlineFlags(kind, start, first);
    }
  }

  /** The body of a group. Flags set inside it end with it. */
  private scoped(flags = this.flags): PatternNode {
    const outer = this.flags;
    this.flags = flags;
    const body = this.choice();
    this.flags = outer;
    return body;
  }

  /** A sequence of its own, because a group may be repeated even if its content may not. */
  private wrapped(body: PatternNode): PatternNode {
    return { type: "sequence", items: [body] };
  }

  private closed(node: PatternNode, start: number): PatternNode {
    if (!this.source.take(")")) this.source.fail("missing ), unterminated subpattern", start);
    return node;
  }

  private capture(name: string | undefined, start: number): PatternNode {
    const index = ++this.groups;
    if (name !== undefined) this.names.set(name, index);
    this.openGroups.add(index);
    const body = this.closed(this.scoped(), start);
    this.openGroups.delete(index);
    this.groupWidths.set(index, widthOf(body, this.groupWidths));
    return { type: "group", index, body };
  }

  private lookbehind(start: number): PatternNode {
    const kind = this.source.next("unexpected end of pattern");
    if (kind !== "=" && kind !== "!") this.source.fail(`unknown extension ?<${kind}`, start + 1);
    const outer = this.lookbehindFloor;
    this.lookbehindFloor ??= this.groups + 1;
    const body = this.closed(this.scoped(), start);
    this.lookbehindFloor = outer;
    const [low, high] = widthOf(body, this.groupWidths);
    if (low !== high) this.source.fail("look-behind requires fixed-width pattern", start);
    return { type: "look", ahead: false, negative: kind === "!", body };
  }

  private named(start: number): PatternNode {
    const kind = this.source.next("unexpected end of pattern");
    if (kind === "<") {
      const name = this.name(">");
      if (this.names.has(name)) this.source.fail(`redefinition of group name '${name}'`, start);
      return this.capture(name, start);
    }
    if (kind !== "=") this.source.fail(`unknown extension ?P${kind}`, start + 1);
    const name = this.name(")");
    const index = this.names.get(name);
    if (index === undefined) return this.source.fail(`unknown group name '${name}'`, start);
    return this.reference(index, start);
  }

  private name(terminator: string): string {
    const start = this.source.position;
    const name = this.source.takeUntil(terminator, "missing group name");
    if (!/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name))
      this.source.fail(`bad character in group name '${name}'`, start);
    return name;
  }

  private conditional(start: number): PatternNode {
    const at = this.source.position;
    const name = this.source.takeUntil(")", "missing group name");
    let index = this.names.get(name);
    if (index === undefined) {
      if (!/^[0-9]+$/.test(name)) this.source.fail(`unknown group name '${name}'`, at);
      index = Number(name);
      if (index === 0) this.source.fail("bad group number", at);
      this.conditionals.push({ index, position: at });
    }
    const flags = this.flags;
    const yes = this.sequence();
    const no: PatternNode = this.source.take("|") ? this.sequence() : { type: "empty" };
    if (this.source.peek() === "|") this.source.fail("conditional backref with more than two branches");
    this.flags = flags;
    return this.closed({ type: "conditional", index, yes, no }, start);
  }

  /** Flags of the whole pattern, `(?i)`, or of a part of it, `(?i:…)` and `(?-i:…)`. */
  private inlineFlags(firstLetter: string, start: number, first: boolean): PatternNode | undefined {
    const changed = { ...this.flags };
    let letter = firstLetter;
    let value = true;
    let none = true;
    while (letter !== ")" && letter !== ":") {
      if (letter === "-" && value) value = false;
      else {
        const flag = flagLetters[letter];
        if (flag !== undefined && (value || flag !== "ascii")) changed[flag] = value;
        else if (letter === "u" && value) changed.ascii = false;
        else this.source.fail(`unknown extension ?${letter}`, this.source.position - 1);
        none = false;
      }
      letter = this.source.next("missing -, : or )");
    }
    if (none) this.source.fail("missing flag", start);
    if (letter === ":") return this.wrapped(this.closed(this.scoped(changed), start));
    if (!value) this.source.fail("missing :", start);
    if (!first || start !== this.leadingFlagsEnd) {
      this.source.fail("global flags not at the start of the expression", start);
    }
    this.leadingFlagsEnd = this.source.position;
    this.flags = changed;
    return undefined;
  }

  /** The end of the global flags at the start of the pattern. */
  private leadingFlagsEnd = 0;
}

function isDecimal(character: string): boolean {
  return character >= "0" && character <= "9";
}
