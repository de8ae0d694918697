/**
 * Parses a normalized LaTeX answer: lists of relations, sets, intervals and tuples of expressions. The language is that of
 * math-verify 0.8, so that the same answers can be parsed.
 *
 * @module
 */
import { withinBudget } from "../budget.ts";
import {
  type Node,
  type NumberSetName,
  negated,
  type RelationOperator,
  relation,
  sumOf,
} from "../expression/node.ts";
import { printNode } from "../expression/print.ts";
import { evaluateConstant } from "../numbers/evaluate.ts";
import type { Mode } from "../verify-answer.ts";
import { numberNode } from "./build-node.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { ParseError } from "./tokens.ts";

const RELATIONS: ReadonlySet<string> = new Set(["=", "!=", "<", "<=", ">", ">="]);
const NUMBER_SETS: Readonly<Record<string, NumberSetName>> = {
  N: "naturals",
  Z: "integers",
  Q: "rationals",
  R: "reals",
  C: "complexes",
};

/** A standalone `i` or a word about complex numbers. Symbols are then not real. */
const COMPLEX = /\bi\b|\\mathbb\{C\}|\b(?:Re|Im|det|rank|ker|tr|arg)\b/;

/** Parses the text of an answer. Throws a ParseError with the position of the error. */
export function parseAnswer(text: string, mode: Mode = "compat"): Node {
  const grouped = groupedNumber(text);
  if (grouped !== undefined) return grouped;
  const parser = new AnswerParser(text, {
    real: mode === "strict" || !COMPLEX.test(text),
    strict: mode === "strict",
  });
  const groups = parser.groups();
  if (parser.reader.token.kind !== "end") throw parser.reader.unexpected("expected the end of the answer");
  return parser.combine(groups.length > 1 && groups.some(isTuple) ? groups.map(asElement) : groups.flat(2));
}

/** `1,234.5` as the whole answer. `0,123` has a decimal comma. */
function groupedNumber(text: string): Node | undefined {
  const [, sign, digits = "", fraction = ""] =
    /^(-?)\s*(\d{1,3}(?:,\d{3})+)(\.\d+)?$/.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const comma = digits.startsWith("0") && !fraction && digits.split(",").length === 2;
  const value = numberNode(comma ? digits.replace(",", ".") : digits.replaceAll(",", "") + fraction);
  return sign === "-" ? negated(value) : value;
}

class AnswerParser extends ExpressionParser {
  /** A comma or semicolon list. */
  items(): Node[] {
    return this.groups().flat(2);
  }

  /** The values of each item of a comma list, in lists that semicolons separate. */
  groups(): Node[][][] {
    const groups: Node[][][] = [];
    do {
      const group = [this.item()];
      while (this.reader.take(",")) group.push(this.item());
      groups.push(group);
    } while (this.reader.take(";"));
    return groups;
  }

  /** In `x = 1, 2` x is one of two values. Other lists are sets. */
  combine(items: Node[]): Node {
    const [first, ...others] = items;
    if (first === undefined) throw this.reader.unexpected("expected an answer");
    if (others.length === 0) return first;
    const values = others.every((item) => item.kind !== "relation" && item.kind !== "and");
    // Upstream: `ab = 1, 2` is the set of `ab = 1` and 2.
    if (
      first.kind === "relation" &&
      first.operator === "=" &&
      values &&
      (this.strict || isName(first.left))
    ) {
      const right = first.right.kind === "set" ? first.right.items : [first.right];
      return relation("=", first.left, { kind: "set", items: distinct([...right, ...others]) });
    }
    if (items.some((item) => item.kind === "not" || isMembership(item))) {
      throw new ParseError("A membership cannot be part of a list", 0);
    }
    return { kind: "set", items: distinct(items) };
  }

  /** A value, a relation or a chain of relations. `±` makes two values. */
  item(): Node[] {
    const sides = this.side();
    const [only] = sides;
    if (sides.length !== 1 || only === undefined) {
      return this.#relationOperator() === undefined ? sides : [this.chain({ kind: "set", items: sides })];
    }
    return [this.chain(only)];
  }

  chain(first: Node): Node {
    const { reader } = this;
    let left = first;
    if (reader.isOperator("∈", "∉")) return this.#membership(left);
    const parts: Node[] = [];
    for (
      let operator = this.#relationOperator();
      operator !== undefined;
      operator = this.#relationOperator()
    ) {
      reader.next();
      const [value, ...more] = this.side();
      if (value === undefined) throw reader.unexpected();
      const right: Node = more.length > 0 ? { kind: "set", items: [value, ...more] } : value;
      if (operator === "~=") {
        if (parts.length === 0 && left.kind === "symbol") left = right;
        continue;
      }
      const isPair = (node: Node) => node.kind === "interval" && operator === "=";
      const pair = parts.length === 0 && isPair(left) ? asTuple(left) : left;
      parts.push(relation(operator as RelationOperator, pair, right));
      left = right;
    }
    const [part] = parts;
    if (part === undefined) return left;
    return parts.length === 1 ? part : { kind: "and", parts };
  }

  #membership(left: Node): Node {
    const negative = this.reader.next().text === "∉";
    const set = this.setExpression();
    if (this.reader.token.kind !== "end") throw this.reader.unexpected("expected the end of the answer");
    const equation: Node = { ...relation("=", left, set) };
    return negative ? { kind: "not", value: equation } : equation;
  }

  #relationOperator(): string | undefined {
    const { kind, text } = this.reader.token;
    return kind === "operator" && (RELATIONS.has(text) || text === "~=") ? text : undefined;
  }

  /** One side of a relation: a set, an expression, or two values with `±`. */
  side(): Node[] {
    const { reader } = this;
    if (this.#startsSet()) {
      const set = reader.attempt(
        () => reader.nested(() => this.setExpression()),
        () => this.#atBoundary(),
        "set",
      );
      if (set) return [set];
    }
    if (reader.take("±")) return plusMinus(undefined, this.additive());
    const value = this.fraction(this.additive());
    if (!reader.take("±")) return [value];
    return plusMinus(value, this.additive());
  }

  #startsSet(): boolean {
    const { token } = this.reader;
    return (
      this.reader.isOperator("{", "\\{", "(", "[", "∅") ||
      (token.kind === "named" && token.command === "mathbb")
    );
  }

  #atBoundary(): boolean {
    const { kind, text } = this.reader.token;
    if (kind === "end") return true;
    return (
      kind === "operator" &&
      (RELATIONS.has(text) || [",", ";", ")", "]", "}", "\\}", "~=", "∈", "⊆"].includes(text))
    );
  }

  setExpression(): Node {
    const { reader } = this;
    let left = this.#intersection();
    while (reader.isOperator("∪", "∖")) {
      const operator = reader.next().text === "∪" ? "union" : "difference";
      left = { kind: "setOperation", operator, args: [left, this.#intersection()] };
    }
    return left;
  }

  #intersection(): Node {
    let left = this.#setAtom();
    while (this.reader.take("∩")) {
      left = { kind: "setOperation", operator: "intersection", args: [left, this.#setAtom()] };
    }
    return left;
  }

  #setAtom(): Node {
    const { reader } = this;
    const { token } = reader;
    if (reader.take("∅")) return { kind: "set", items: [] };
    if (token.kind === "named" && token.command === "mathbb") {
      const name = NUMBER_SETS[token.text.trim()];
      if (!name) throw reader.unexpected("expected a set of numbers");
      reader.next();
      return { kind: "numberSet", name };
    }
    for (const [open, close] of [
      ["\\{", "\\}"],
      ["{", "}"],
    ] as const) {
      if (!reader.take(open)) continue;
      const items = reader.take(close) ? undefined : reader.nested(() => this.items());
      if (items) reader.expect(close);
      return { kind: "set", items: distinct(items ?? []) };
    }
    if (reader.isOperator("(", "[")) return this.#bracketed();
    throw reader.unexpected("expected a set");
  }

  /** An interval, a tuple, or a set in parentheses. */
  #bracketed(): Node {
    const { reader } = this;
    const open = reader.next().text;
    const pair = reader.attempt(() => this.#intervalRest(open), undefined, "interval");
    if (pair) return pair;
    const inner = reader.attempt(
      () => reader.nested(() => this.setExpression()),
      () => reader.isOperator(")"),
      "set in parentheses",
    );
    if (inner && open === "(") {
      reader.next();
      return inner;
    }
    const items = reader.nested(() => this.items());
    reader.expect(open === "(" ? ")" : "]");
    if (items.length < 2) throw reader.unexpected("expected more than one element");
    return { kind: "tuple", items };
  }

  #intervalRest(open: string): Node {
    const { reader } = this;
    const from = this.additive();
    const semicolon = reader.take(";");
    if (!semicolon) reader.expect(",");
    const to = this.additive();
    const close = reader.token.text;
    if (!reader.isOperator(")", "]")) throw reader.unexpected("expected the end of an interval");
    reader.next();
    const sameKind = (open === "(") === (close === ")");
    if (sameKind && (semicolon || !increasing(from, to))) return { kind: "tuple", items: [from, to] };
    return { kind: "interval", from, to, openFrom: open === "(", openTo: close === ")" };
  }
}

/** In `x=1,y=2; x=3,y=4` each part between semicolons is a tuple. */
const isTuple = (group: Node[][]) => group.length > 1;

function asElement(group: Node[][]): Node {
  const items = group.flat();
  const [only] = items;
  return items.length === 1 && only ? only : { kind: "tuple", items };
}

/** `x`, `x^2`, `(x, y)` and `\pi`, but not a product or a function. */
function isName(node: Node): boolean {
  if (node.kind === "power") return node.base.kind === "symbol";
  return node.kind === "symbol" || node.kind === "tuple" || node.kind === "constant";
}

function isMembership(item: Node): boolean {
  return (
    item.kind === "relation" &&
    item.operator === "=" &&
    ["numberSet", "setOperation"].includes(item.right.kind)
  );
}

function plusMinus(left: Node | undefined, right: Node): Node[] {
  return left ? [sumOf([left, right]), sumOf([left, negated(right)])] : [negated(right), right];
}

function asTuple(node: Node): Node {
  return node.kind === "interval" && node.openFrom && node.openTo
    ? { kind: "tuple", items: [node.from, node.to] }
    : node;
}

/** Whether two values can be the ends of an interval. Only known numbers in the wrong order cannot. */
function increasing(from: Node, to: Node): boolean {
  const [a, b] = withinBudget(() => [evaluateConstant(from), evaluateConstant(to)]) ?? [];
  return a === undefined || b === undefined || a < b;
}

/** Removes elements that are written the same. */
function distinct(items: readonly Node[]): Node[] {
  if (items.length < 2) return [...items];
  const seen = new Set<string>();
  return items.filter((item) => seen.size < seen.add(printNode(item)).size);
}
