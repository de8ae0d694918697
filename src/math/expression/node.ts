import { negate, ONE, type Rational, rational } from "../numbers/rational.ts";

export type RelationOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";
export type NumberSetName = "naturals" | "integers" | "rationals" | "reals" | "complexes" | "primes";

/** What an answer says. Sums and products keep their written order and are not evaluated. */
export type Node =
  | { readonly kind: "number"; readonly value: Rational }
  /** Written with a decimal point: compared after rounding. */
  | { readonly kind: "float"; readonly value: Rational; readonly digits: number }
  | { readonly kind: "constant"; readonly name: "pi" | "e" | "i" | "infinity" | "undefined" }
  /** `real` is false in an answer that speaks of complex numbers; such a symbol differs from a real one. */
  | { readonly kind: "symbol"; readonly name: string; readonly real: boolean }
  | { readonly kind: "add" | "multiply"; readonly args: readonly Node[] }
  | { readonly kind: "power"; readonly base: Node; readonly exponent: Node }
  | { readonly kind: "percent"; readonly value: Node }
  /** A known function (`sin`), or `apply` with the name of an unknown one as first argument. */
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: "apply"; readonly name: string; readonly args: readonly Node[] }
  | {
      readonly kind: "bound";
      readonly operator: "sum" | "product" | "integral" | "derivative" | "limit";
      readonly body: Node;
      readonly variable: Node & { kind: "symbol" };
      readonly from?: Node | undefined;
      readonly to?: Node | undefined;
    }
  | { readonly kind: "matrix"; readonly rows: readonly (readonly Node[])[] }
  | {
      readonly kind: "relation";
      readonly operator: RelationOperator;
      readonly left: Node;
      readonly right: Node;
    }
  | { readonly kind: "and"; readonly parts: readonly Node[] }
  | { readonly kind: "not"; readonly value: Node }
  | { readonly kind: "set" | "tuple"; readonly items: readonly Node[] }
  | {
      readonly kind: "interval";
      readonly from: Node;
      readonly to: Node;
      readonly openFrom: boolean;
      readonly openTo: boolean;
    }
  | { readonly kind: "numberSet"; readonly name: NumberSetName }
  | {
      readonly kind: "setOperation";
      readonly operator: "union" | "intersection" | "difference";
      readonly args: readonly Node[];
    };

export type SymbolNode = Extract<Node, { kind: "symbol" }>;
export type RelationNode = Extract<Node, { kind: "relation" }>;
export type IntervalNode = Extract<Node, { kind: "interval" }>;

export const number = (value: Rational): Node => ({ kind: "number", value });
export const integer = (value: number | bigint): Node => number(rational(BigInt(value)));
export const constant = (name: Extract<Node, { kind: "constant" }>["name"]): Node => ({
  kind: "constant",
  name,
});
export const symbol = (name: string, real: boolean): SymbolNode => ({ kind: "symbol", name, real });
export const call = (name: string, ...args: Node[]): Node => ({ kind: "call", name, args });
export const powerOf = (base: Node, exponent: Node): Node => ({ kind: "power", base, exponent });
export const inverse = (node: Node): Node => powerOf(node, integer(-1));
export const relation = (operator: RelationOperator, left: Node, right: Node): RelationNode => ({
  kind: "relation",
  operator,
  left,
  right,
});

export function sumOf(args: readonly Node[]): Node {
  const flat = args.flatMap((arg) => (arg.kind === "add" ? arg.args : [arg]));
  return flat.length === 1 && flat[0] ? flat[0] : { kind: "add", args: flat };
}

export function productOf(args: readonly Node[]): Node {
  const flat = args.flatMap((arg) => (arg.kind === "multiply" ? arg.args : [arg]));
  return flat.length === 1 && flat[0] ? flat[0] : { kind: "multiply", args: flat };
}

/** A number changes its sign; anything else is multiplied by -1. */
export function negated(node: Node): Node {
  if (node.kind === "number") return number(negate(node.value));
  if (node.kind === "float") return { ...node, value: negate(node.value) };
  return productOf([integer(-1), node]);
}

export function isInfinite(node: Node): boolean {
  if (node.kind === "constant") return node.name === "infinity";
  return (
    node.kind === "multiply" &&
    node.args.length === 2 &&
    isMinusOne(node.args[0]) &&
    isInfinite(node.args[1] as Node)
  );
}

export function isMinusOne(node: Node | undefined): boolean {
  return node?.kind === "number" && node.value.n === -ONE.n && node.value.d === 1n;
}

/** The parts of a node, in order. */
export function children(node: Node): readonly Node[] {
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

/** Whether `test` holds for a node or a part of it. */
export function some(node: Node, test: (part: Node) => boolean): boolean {
  return test(node) || children(node).some((child) => some(child, test));
}

/** The names under which the free symbols of a node are evaluated. */
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
