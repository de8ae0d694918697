import { spend } from "../budget.ts";
import { negate, ONE, type Rational, rational } from "../numbers/rational.ts";

export type RelationOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";
export type NumberSetName = "naturals" | "integers" | "rationals" | "reals" | "complexes" | "primes";

/** A parsed answer. Sums and products keep their written order and are not evaluated. */
export type Node = Readonly<
  | { kind: "number"; value: Rational }
  /** A number with a decimal point. It is compared after rounding. */
  | { kind: "float"; value: Rational; digits: number }
  | { kind: "constant"; name: "pi" | "e" | "i" | "infinity" | "undefined" }
  /** `real` is false in an answer about complex numbers. Such a symbol differs from a real one. */
  | { kind: "symbol"; name: string; real: boolean }
  | { kind: "add" | "multiply"; args: readonly Node[] }
  | { kind: "power"; base: Node; exponent: Node }
  | { kind: "percent"; value: Node }
  /** A known function such as `sin`. */
  | { kind: "call"; name: string; args: readonly Node[] }
  /** An unknown function. */
  | { kind: "apply"; name: string; args: readonly Node[] }
  | {
      kind: "bound";
      operator: "sum" | "product" | "integral" | "derivative" | "limit";
      body: Node;
      variable: SymbolNode;
      from?: Node;
      to?: Node;
    }
  | { kind: "matrix"; rows: readonly (readonly Node[])[] }
  | { kind: "relation"; operator: RelationOperator; left: Node; right: Node }
  | { kind: "and"; parts: readonly Node[] }
  | { kind: "not"; value: Node }
  | { kind: "set" | "tuple"; items: readonly Node[] }
  | { kind: "interval"; from: Node; to: Node; openFrom: boolean; openTo: boolean }
  | { kind: "numberSet"; name: NumberSetName }
  | { kind: "setOperation"; operator: "union" | "intersection" | "difference"; args: readonly Node[] }
>;

export type SymbolNode = Readonly<{ kind: "symbol"; name: string; real: boolean }>;
export type RelationNode = Extract<Node, { kind: "relation" }>;
export type IntervalNode = Extract<Node, { kind: "interval" }>;

/** Nodes that are visited in one step. */
const VISITED_NODES = 16;

export const rationalNode = (value: Rational): Node => ({ kind: "number", value });
export const integerNode = (value: number | bigint): Node => rationalNode(rational(BigInt(value)));
export const constant = (name: Extract<Node, { kind: "constant" }>["name"]): Node => ({
  kind: "constant",
  name,
});
export const symbol = (name: string, real: boolean): SymbolNode => ({ kind: "symbol", name, real });
export const call = (name: string, ...args: Node[]): Node => ({ kind: "call", name, args });
export const powerOf = (base: Node, exponent: Node): Node => ({ kind: "power", base, exponent });
export const inverse = (node: Node): Node => powerOf(node, integerNode(-1));
export const relation = (operator: RelationOperator, left: Node, right: Node): RelationNode => ({
  kind: "relation",
  operator,
  left,
  right,
});

export function sumOf(args: readonly Node[]): Node {
  const flat = args.flatMap((arg) => (arg.kind === "add" ? arg.args : [arg]));
  spend(flat.length / VISITED_NODES);
  return flat.length === 1 && flat[0] ? flat[0] : { kind: "add", args: flat };
}

export function productOf(args: readonly Node[]): Node {
  const flat = args.flatMap((arg) => (arg.kind === "multiply" ? arg.args : [arg]));
  spend(flat.length / VISITED_NODES);
  return flat.length === 1 && flat[0] ? flat[0] : { kind: "multiply", args: flat };
}

/** Changes the sign of a number; multiplies anything else by -1. */
export function negated(node: Node): Node {
  if (node.kind === "number") return rationalNode(negate(node.value));
  if (node.kind === "float") return { ...node, value: negate(node.value) };
  return productOf([integerNode(-1), node]);
}

/** Plus or minus infinity if the node is the constant infinity or its negative. */
export function infinityOf(node: Node): number | undefined {
  if (node.kind === "constant") return node.name === "infinity" ? Number.POSITIVE_INFINITY : undefined;
  if (node.kind !== "multiply" || node.args.length !== 2) return undefined;
  const [factor, value] = node.args as [Node, Node];
  return isMinusOne(factor) && infinityOf(value) !== undefined ? Number.NEGATIVE_INFINITY : undefined;
}

export function isMinusOne(node: Node | undefined): boolean {
  return node?.kind === "number" && node.value.n === -ONE.n && node.value.d === 1n;
}

/** The parts of a node, in order. */
export function children(node: Node): readonly Node[] {
  spend(1 / VISITED_NODES);
  switch (node.kind) {
    case "number":
    case "float":
    case "constant":
    case "symbol":
    case "numberSet":
      return [];
    case "add":
    case "multiply":
    case "call":
    case "apply":
    case "setOperation":
      return node.args;
    case "power":
      return [node.base, node.exponent];
    case "percent":
    case "not":
      return [node.value];
    case "bound":
      return [node.body, node.variable, node.from, node.to].filter((part) => part !== undefined);
    case "matrix":
      return node.rows.flat();
    case "relation":
      return [node.left, node.right];
    case "and":
      return node.parts;
    case "set":
    case "tuple":
      return node.items;
    case "interval":
      return [node.from, node.to];
  }
}

/** Whether `test` is true for a node or one of its parts. */
export function some(node: Node, test: (part: Node) => boolean): boolean {
  return test(node) || children(node).some((child) => some(child, test));
}

/** The keys of the free symbols of a node. */
export function freeSymbols(node: Node, found = new Set<string>()): Set<string> {
  if (node.kind === "symbol") found.add(symbolKey(node));
  else if (
    node.kind === "bound" &&
    node.operator !== "derivative" &&
    (node.from || node.operator === "limit")
  ) {
    const inside = freeSymbols(node.body);
    inside.delete(symbolKey(node.variable));
    for (const name of inside) found.add(name);
    for (const part of [node.from, node.to]) if (part) freeSymbols(part, found);
  } else for (const child of children(node)) freeSymbols(child, found);
  return found;
}

export function symbolKey(node: SymbolNode): string {
  return node.real ? node.name : `${node.name}~`;
}

/** A copy of `node` in which `change` replaces every part, from the leaves up. */
export function rewrite(node: Node, change: (part: Node) => Node): Node {
  const each = (parts: readonly Node[]) => parts.map((part) => rewrite(part, change));
  spend(2 / VISITED_NODES);
  switch (node.kind) {
    case "number":
    case "float":
    case "constant":
    case "symbol":
    case "numberSet":
      return change(node);
    case "add":
    case "multiply":
    case "call":
    case "apply":
    case "setOperation":
      return change({ ...node, args: each(node.args) });
    case "power":
      return change({ ...node, base: rewrite(node.base, change), exponent: rewrite(node.exponent, change) });
    case "percent":
    case "not":
      return change({ ...node, value: rewrite(node.value, change) });
    case "bound":
      return change({
        ...node,
        body: rewrite(node.body, change),
        from: node.from && rewrite(node.from, change),
        to: node.to && rewrite(node.to, change),
      });
    case "matrix":
      return change({ ...node, rows: node.rows.map(each) });
    case "relation":
      return change({ ...node, left: rewrite(node.left, change), right: rewrite(node.right, change) });
    case "and":
      return change({ ...node, parts: each(node.parts) });
    case "set":
    case "tuple":
      return change({ ...node, items: each(node.items) });
    case "interval":
      return change({ ...node, from: rewrite(node.from, change), to: rewrite(node.to, change) });
  }
}

/** Replaces a symbol by a value. */
export function substitute(node: Node, variable: SymbolNode, value: Node): Node {
  const key = symbolKey(variable);
  return rewrite(node, (part) => (part.kind === "symbol" && symbolKey(part) === key ? value : part));
}
