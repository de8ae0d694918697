/**
 * Writes parsed answers like SymPy's `str`, because results are grouped by this text, also with those of other programs. Rare
 * forms may differ.
 *
 * @module
 */
import { spend, withinSteps } from "../budget.ts";
import { evaluateConstant } from "../numbers/evaluate.ts";
import { rationalText, toNumber } from "../numbers/rational.ts";
import { children, isMinusOne, type Node, negated } from "./node.ts";

const NUMBER_SETS = {
  naturals: "Naturals",
  integers: "Integers",
  rationals: "Rationals",
  reals: "Reals",
  complexes: "Complexes",
  primes: "Primes",
} as const;
const CONSTANTS = { pi: "pi", e: "E", i: "I", infinity: "oo", undefined: "zoo" } as const;
const FUNCTION_NAMES: Readonly<Record<string, string>> = { abs: "Abs", max: "Max", min: "Min", mod: "Mod" };

const PRINT_STEPS = 0.5;
/** Terms and elements with a value that takes longer to compute are ordered by their text. */
const VALUE_STEPS = 500;
/** Names of terms that are compared in one step. */
const COMPARED_NAMES = 8;

const SUM = 1;
const PRODUCT = 2;
const POWER = 3;
const ATOM = 4;

/** The text of an answer. */
export function printNode(node: Node): string {
  spend(PRINT_STEPS);
  const list = (items: readonly Node[]) => items.map(printNode).join(", ");
  switch (node.kind) {
    case "number":
      return rationalText(node.value);
    case "float":
      return printFloat(toNumber(node.value));
    case "constant":
      return CONSTANTS[node.name];
    case "symbol":
      return node.name;
    case "percent":
      return `${node.value.kind === "float" ? toNumber(node.value.value) : enclosed(node.value, PRODUCT)}*(1/100)`;
    case "add":
      return printSum(node.args);
    case "multiply":
      return printProduct(node.args);
    case "power":
      return printPower(node.base, node.exponent);
    case "call":
      return `${FUNCTION_NAMES[node.name] ?? node.name}(${list(node.args)})`;
    case "apply":
      return `${node.name}(${list(node.args)})`;
    case "bound":
      return printBound(node);
    case "matrix":
      return `Matrix([${node.rows.map((row) => `[${list(row)}]`).join(", ")}])`;
    case "relation": {
      const { operator, left, right } = node;
      if (operator === "=" || operator === "!=") {
        return `${operator === "=" ? "Eq" : "Ne"}(${printNode(left)}, ${printNode(right)})`;
      }
      return `${printNode(left)} ${operator} ${printNode(right)}`;
    }
    case "and":
      return node.parts.map((part) => `(${printNode(part)})`).join(" & ");
    case "not":
      return `~(${printNode(node.value)})`;
    case "set":
      return node.items.length === 0 ? "EmptySet" : `{${list(sorted(node.items))}}`;
    case "tuple":
      return `(${list(node.items)})`;
    case "interval":
      return printInterval(node);
    case "numberSet":
      return NUMBER_SETS[node.name];
    case "setOperation": {
      const name = { union: "Union", intersection: "Intersection", difference: "Complement" }[node.operator];
      return `${name}(${list(node.args.flatMap((arg) => flat(arg, node.operator)))})`;
    }
  }
}

function flat(node: Node, operator: string): readonly Node[] {
  if (operator === "difference" || node.kind !== "setOperation" || node.operator !== operator) return [node];
  return node.args.flatMap((arg) => flat(arg, operator));
}

/** 15 significant digits. */
function printFloat(value: number): string {
  if (value === 0) return "0.0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 15) {
    const [digits = "", power = "0"] = value.toExponential(14).split("e");
    return `${digits}e${power}`;
  }
  return value.toPrecision(15);
}

function printInterval({ from, to, openFrom, openTo }: Extract<Node, { kind: "interval" }>): string {
  const leftOpen = openFrom && printNode(from) !== "-oo";
  const rightOpen = openTo && printNode(to) !== "oo";
  const open = openFrom && openTo;
  const name = open ? ".open" : leftOpen ? ".Lopen" : rightOpen ? ".Ropen" : "";
  return `Interval${name}(${printNode(from)}, ${printNode(to)})`;
}

function printBound({ operator, body, variable, from, to }: Extract<Node, { kind: "bound" }>): string {
  const name = {
    sum: "Sum",
    product: "Product",
    integral: "Integral",
    derivative: "Derivative",
    limit: "Limit",
  }[operator];
  const limits = [variable, from, to].filter((part) => part !== undefined).map(printNode);
  if (operator === "derivative" || operator === "limit")
    return `${name}(${printNode(body)}, ${limits.join(", ")})`;
  return `${name}(${printNode(body)}, ${limits.length === 1 ? limits[0] : `(${limits.join(", ")})`})`;
}

function precedence(node: Node): number {
  if (node.kind === "add") return SUM;
  if (node.kind === "multiply" || node.kind === "percent") return PRODUCT;
  if (node.kind === "number") return node.value.n < 0n ? SUM : node.value.d === 1n ? ATOM : PRODUCT;
  if (node.kind === "float") return node.value.n < 0n ? SUM : ATOM;
  return node.kind === "power" ? (isSquareRoot(node.exponent) ? ATOM : POWER) : ATOM;
}

function enclosed(node: Node, least: number): string {
  return precedence(node) < least ? `(${printNode(node)})` : printNode(node);
}

function isSquareRoot(exponent: Node): boolean {
  return exponent.kind === "number" && exponent.value.n === 1n && exponent.value.d === 2n;
}

function printPower(base: Node, exponent: Node): string {
  if (isSquareRoot(exponent)) return `sqrt(${printNode(base)})`;
  if (exponent.kind === "number" && exponent.value.n < 0n) {
    return isMinusOne(exponent) && base.kind === "number"
      ? `1/${enclosed(base, POWER)}`
      : `1/${denominator(base, exponent)}`;
  }
  return `${enclosed(base, ATOM)}**${enclosed(exponent, ATOM)}`;
}

function denominator(base: Node, exponent: Node): string {
  if (isMinusOne(exponent)) return isRoot(base) ? `(${printNode(base)})` : enclosed(base, POWER);
  const positive: Node = { kind: "power", base, exponent: negated(exponent) };
  return printNode(positive);
}

const isRoot = (node: Node) => node.kind === "power" && isSquareRoot(node.exponent);

function printProduct(args: readonly Node[]): string {
  const minus = args.length === 2 && isMinusOne(args[0]);
  const top: string[] = [];
  const bottom: string[] = [];
  for (const arg of minus ? args.slice(1) : args) {
    if (arg.kind === "power" && arg.exponent.kind === "number" && arg.exponent.value.n < 0n) {
      bottom.push(denominator(arg.base, arg.exponent));
    } else if (arg.kind === "number" && arg.value.d !== 1n && args.length > 1 && args.at(-1) === arg) {
      bottom.push(arg.value.d.toString());
      if (arg.value.n !== 1n || top.length === 0) top.push(arg.value.n.toString());
    } else
      top.push(
        precedence(arg) < PRODUCT && !(arg.kind === "number") ? `(${printNode(arg)})` : printNode(arg),
      );
  }
  const over = top.length > 1 && bottom.length > 0 ? `(${top.join("*")})` : top.join("*") || "1";
  const text =
    bottom.length === 0 ? over : `${over}/${bottom.length > 1 ? `(${bottom.join("*")})` : bottom[0]}`;
  return minus ? `-${text}` : text;
}

function printSum(args: readonly Node[]): string {
  return orderedTerms(args)
    .map(printNode)
    .reduce((text, term) => (term.startsWith("-") ? `${text} - ${term.slice(1)}` : `${text} + ${term}`));
}

/** Orders terms by descending powers and by name. Numbers are last, by value. */
function orderedTerms(args: readonly Node[]): readonly Node[] {
  const [first, second] = [...args].sort((a, b) => Number(b.kind === "number") - Number(a.kind === "number"));
  if (args.length === 2 && first?.kind === "number" && first.value.n > 0n && second?.kind === "multiply") {
    const [factor] = second.args;
    if (second.args.length === 2 && factor?.kind === "number" && factor.value.n < 0n) return [first, second];
  }
  const names = [...new Set(args.flatMap(powers).map(([name]) => name))].sort();
  const key = (node: Node) => {
    const exponents = new Map(powers(node));
    return names.map((name) => exponents.get(name) ?? 0);
  };
  spend((args.length * names.length) / COMPARED_NAMES);
  return args
    .map((node) => ({ node, key: key(node), value: orderValue(node) ?? 0 }))
    .sort((a, b) => {
      for (const [index, power] of a.key.entries()) {
        const difference = (b.key[index] ?? 0) - power;
        if (difference !== 0) return difference;
      }
      return a.value - b.value;
    })
    .map(({ node }) => node);
}

const FUNCTION_ORDER = ["exp", "log", "sin", "cos", "tan", "cot"];

function powers(node: Node): [string, number][] {
  spend(PRINT_STEPS / 2);
  if (node.kind === "multiply") return node.args.flatMap(powers);
  if (node.kind === "power" && node.exponent.kind === "number") {
    const exponent = toNumber(node.exponent.value);
    return powers(node.base).map(([name, power]) => [name, power * exponent]);
  }
  if (node.kind === "symbol") return [[`0${node.name}`, 1]];
  if (node.kind === "call" && children(node).some((child) => powers(child).length > 0)) {
    const order = FUNCTION_ORDER.indexOf(node.name);
    return [[`1${order < 0 ? 9 : order}${printNode(node)}`, 1]];
  }
  return node.kind === "power" || node.kind === "apply" || node.kind === "add"
    ? children(node).flatMap(powers)
    : [];
}

function orderValue(node: Node): number | undefined {
  return withinSteps(VALUE_STEPS, () => evaluateConstant(node));
}

/** Orders numbers by value and everything else by text. */
function sorted(items: readonly Node[]): Node[] {
  const keyed = items.map((node) => ({ node, value: orderValue(node), text: printNode(node) }));
  keyed.sort((a, b) => {
    if (a.value !== undefined && b.value !== undefined) return a.value - b.value;
    if (a.value !== undefined || b.value !== undefined) return a.value === undefined ? 1 : -1;
    return a.text < b.text ? -1 : 1;
  });
  return keyed.map(({ node }) => node);
}
