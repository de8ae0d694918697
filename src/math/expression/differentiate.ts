import { spend } from "../budget.ts";
import {
  call,
  integerNode,
  inverse,
  type Node,
  negated,
  powerOf,
  productOf,
  type SymbolNode,
  some,
  sumOf,
  symbolKey,
} from "./node.ts";

/** The derivative of an expression. Undefined for functions without a rule. */
export function differentiate(node: Node, variable: SymbolNode): Node | undefined {
  spend();
  const key = symbolKey(variable);
  if (!some(node, (part) => part.kind === "symbol" && symbolKey(part) === key)) return integerNode(0);
  switch (node.kind) {
    case "symbol":
      return integerNode(1);
    case "percent":
      return differentiate(productOf([node.value, inverse(integerNode(100))]), variable);
    case "add": {
      const terms = node.args.map((arg) => differentiate(arg, variable));
      return terms.every((term) => term !== undefined) ? sumOf(terms) : undefined;
    }
    case "multiply": {
      const terms = node.args.map((arg, index) => {
        const inner = differentiate(arg, variable);
        return inner && productOf(node.args.with(index, inner));
      });
      return terms.every((term) => term !== undefined) ? sumOf(terms) : undefined;
    }
    case "power":
      return powerRule(node, variable);
    case "call": {
      const [argument, base] = node.args;
      if (!argument) return undefined;
      const inner = differentiate(argument, variable);
      if (node.name === "log" && base) {
        return inner && productOf([inner, inverse(productOf([argument, naturalLog(base)]))]);
      }
      const outer = RULES[node.name]?.(argument);
      return inner && outer && productOf([outer, inner]);
    }
    default:
      return undefined;
  }
}

function powerRule(node: Extract<Node, { kind: "power" }>, variable: SymbolNode): Node | undefined {
  const { base, exponent } = node;
  const inner = differentiate(base, variable);
  const outer = differentiate(exponent, variable);
  if (!inner || !outer) return undefined;
  const byBase = productOf([exponent, powerOf(base, sumOf([exponent, integerNode(-1)])), inner]);
  if (outer.kind === "number" && outer.value.n === 0n) return byBase;
  return sumOf([byBase, productOf([node, naturalLog(base), outer])]);
}

const naturalLog = (node: Node) => call("log", node, { kind: "constant", name: "e" });
const square = (node: Node) => powerOf(node, integerNode(2));
const one = integerNode(1);

function inverseSineRule(a: Node): Node {
  return powerOf(sumOf([one, negated(square(a))]), { kind: "number", value: { n: -1n, d: 2n } });
}

const RULES: Readonly<Record<string, (a: Node) => Node>> = {
  sin: (a) => call("cos", a),
  cos: (a) => negated(call("sin", a)),
  tan: (a) => square(call("sec", a)),
  cot: (a) => negated(square(call("csc", a))),
  sec: (a) => productOf([call("sec", a), call("tan", a)]),
  csc: (a) => negated(productOf([call("csc", a), call("cot", a)])),
  asin: inverseSineRule,
  acos: (a) => negated(inverseSineRule(a)),
  atan: (a) => inverse(sumOf([one, square(a)])),
  sinh: (a) => call("cosh", a),
  cosh: (a) => call("sinh", a),
  tanh: (a) => square(call("sech", a)),
  exp: (a) => call("exp", a),
};
