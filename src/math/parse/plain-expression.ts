import { inverse, type Node, negated, powerOf, productOf, rationalNode, sumOf } from "../expression/node.ts";
import { divide, isZero } from "../numbers/rational.ts";
import { numberNode } from "./build-node.ts";
import { ParseError, TokenReader } from "./tokens.ts";

/** Parses arithmetic outside LaTeX, such as `2*(3+4)` or `2**10`. Throws a ParseError otherwise. */
export function parsePlainExpression(text: string): Node {
  if (/[×÷]/.test(text))
    throw new ParseError("Only ASCII operators are read outside of LaTeX", text.search(/[×÷]/));
  // `5.` is a float in Python, and so is a number at the end of a sentence.
  const floats = text.replaceAll(/(\d)\.(?!\d)/g, "$1.0");
  const reader = new TokenReader(floats.replaceAll("**", "^"));
  const node = sum(reader);
  if (reader.token.kind !== "end") throw reader.unexpected("expected the end of the expression");
  return node;
}

function sum(reader: TokenReader): Node {
  const terms = [product(reader)];
  while (reader.isOperator("+", "-")) {
    const minus = reader.next().text === "-";
    const term = product(reader);
    terms.push(minus ? negated(term) : term);
  }
  return sumOf(terms);
}

function product(reader: TokenReader): Node {
  let left = signed(reader);
  while (reader.isOperator("*", "/")) {
    const divides = reader.next().text === "/";
    const right = signed(reader);
    if (!divides) left = productOf([left, right]);
    else if (left.kind === "number" && right.kind === "number" && !isZero(right.value)) {
      left = rationalNode(divide(left.value, right.value));
    } else left = productOf([left, inverse(right)]);
  }
  return left;
}

function signed(reader: TokenReader): Node {
  if (reader.take("-")) return negated(reader.nested(() => signed(reader)));
  if (reader.take("+")) return reader.nested(() => signed(reader));
  const base = atom(reader);
  if (!reader.take("^")) return base;
  const exponent = reader.nested(() => signed(reader));
  return powerOf(base, exponent);
}

function atom(reader: TokenReader): Node {
  if (reader.token.kind === "number") return numberNode(reader.next().text);
  reader.expect("(");
  const node = reader.nested(() => sum(reader));
  reader.expect(")");
  return node;
}
