import {
  call,
  constant,
  inverse,
  type Node,
  powerOf,
  productOf,
  rationalNode,
  type SymbolNode,
  symbol,
} from "../expression/node.ts";
import { divide, isInteger, isZero, parseDecimal, rational } from "../numbers/rational.ts";

export function withSubscript(base: SymbolNode, subscript: string): SymbolNode {
  const text = subscript.toLowerCase();
  return symbol(`${base.name}_${text.length === 1 ? text : `{${text}}`}`, base.real);
}

/** `101_2` is 5. A subscript that cannot be the base of the digits is dropped. */
export function inBase(node: Node, subscript: string): Node {
  const base = Number(subscript);
  if (node.kind !== "number" || !isInteger(node.value) || !(base >= 2 && base <= 10)) return node;
  const digits = [...node.value.n.toString()].map(Number);
  if (digits.some((digit) => digit >= base)) return node;
  return rationalNode(rational(digits.reduce((total, digit) => total * BigInt(base) + BigInt(digit), 0n)));
}

/** `e^x`. `e^{2 \ln x}` is `x^2`. */
export function exponential(exponent: Node): Node {
  const factors = exponent.kind === "multiply" ? exponent.args : [exponent];
  const index = factors.findIndex((factor) => factor.kind === "call" && factor.name === "log");
  const logarithm = factors[index];
  if (logarithm?.kind !== "call" || logarithm.args[1]?.kind !== "constant") return call("exp", exponent);
  const [argument] = logarithm.args;
  if (!argument) return call("exp", exponent);
  const rest = factors.toSpliced(index, 1);
  return rest.length === 0 ? argument : powerOf(argument, productOf(rest));
}

/** Digits without a decimal point are exact. */
export function numberNode(text: string): Node {
  const value = parseDecimal(text);
  if (!/[.E]/.test(text)) return rationalNode(value);
  return { kind: "float", value, digits: text.replace(/E.*|\D/g, "").replace(/^0+/, "").length };
}

/** Divides whole numbers to a fraction. Anything else stays a quotient. */
export function quotient(top: Node, bottom: Node): Node {
  if (top.kind === "number" && bottom.kind === "number" && isInteger(top.value) && isInteger(bottom.value)) {
    return isZero(bottom.value) ? constant("undefined") : rationalNode(divide(top.value, bottom.value));
  }
  return productOf([top, inverse(bottom)]);
}
