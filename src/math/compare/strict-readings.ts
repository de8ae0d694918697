/**
 * The differences between strict mode and math-verify: degrees, the imaginary unit, odd roots, derivatives and named values.
 *
 * @module
 */
import { isGivenUp, withinSteps } from "../budget.ts";
import {
  constant,
  integerNode,
  inverse,
  type Node,
  productOf,
  rationalNode,
  rewrite,
  some,
} from "../expression/node.ts";
import { exactValue } from "../numbers/exact.ts";
import { negate, type Rational } from "../numbers/rational.ts";

/** Limit for the value under a root. */
const ROOT_STEPS = 1000;

const TRIGONOMETRIC: ReadonlySet<string> = new Set(["sin", "cos", "tan", "cot", "sec", "csc"]);

/**
 * The possible meanings of an answer. `45^\circ` is the number 45 if the question asks for degrees, or the angle pi/4. In a
 * trigonometric function it is the angle.
 */
export function strictReadings(node: Node): Node[] {
  const plain = readStrictly(node);
  if (!some(plain, isDegrees)) return [plain];
  const angles = rewrite(plain, (part) => (isTrigonometric(part) ? rewrite(part, asAngle) : part));
  return [
    rewrite(angles, (part) => (isDegrees(part) ? (part.args[0] as Node) : part)),
    rewrite(angles, asAngle),
  ];
}

function readStrictly(node: Node): Node {
  return orderedByName(symbolFirst(withRealRoots(withImaginaryUnit(unevaluatedDerivatives(node)))));
}

/** `dy/dx` is not 0, because y may depend on x. */
function unevaluatedDerivatives(node: Node): Node {
  return rewrite(node, (part) =>
    part.kind === "bound" && part.operator === "derivative" && isUnknown(part.body) && !isVariable(part)
      ? { kind: "apply", name: "derivative", args: [part.body, part.variable] }
      : part,
  );
}

const isUnknown = ({ kind }: Node) => kind === "symbol" || kind === "apply";
const isVariable = ({ body, variable }: Extract<Node, { kind: "bound" }>) =>
  body.kind === "symbol" && body.name === variable.name;

/** The odd root of a negative number is negative: the cube root of -27 is -3. */
function withRealRoots(node: Node): Node {
  return rewrite(node, (part) => {
    if (part.kind !== "power" || part.exponent.kind !== "number") return part;
    const { n, d } = part.exponent.value;
    if (d === 1n || d % 2n === 0n) return part;
    const base = exactOrNone(part.base);
    if (base === undefined || base.n >= 0n) return part;
    const positive: Node = { ...part, base: rationalNode(negate(base)) };
    return n % 2n === 0n ? positive : productOf([integerNode(-1), positive]);
  });
}

function exactOrNone(node: Node): Rational | undefined {
  try {
    return withinSteps(ROOT_STEPS, () => exactValue(node));
  } catch (error) {
    if (isGivenUp(error)) return undefined;
    throw error;
  }
}

/** Turns `5 = x` into `x = 5`. */
function symbolFirst(node: Node): Node {
  if (node.kind !== "relation" || node.operator !== "=") return node;
  const isValue = node.right.kind === "symbol" && !some(node.left, ({ kind }) => kind === "symbol");
  return isValue ? { ...node, left: node.right, right: node.left } : node;
}

/** Orders values by their names: `y = 2, x = 1` and `(y, x) = (2, 1)` are the point (1, 2). */
function orderedByName(node: Node): Node {
  const named = namedValues(node);
  if (named === undefined || new Set(named.map(({ name }) => name)).size < named.length) return node;
  const sorted = [...named].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: "tuple", items: sorted.map(({ value }) => value) };
}

function namedValues(node: Node): { name: string; value: Node }[] | undefined {
  if (node.kind === "set" && node.items.length > 1) {
    const pairs = node.items.flatMap((item) =>
      item.kind === "relation" && item.operator === "=" && item.left.kind === "symbol"
        ? [{ name: item.left.name, value: item.right }]
        : [],
    );
    return pairs.length === node.items.length ? pairs : undefined;
  }
  if (node.kind !== "relation" || node.operator !== "=" || node.left.kind !== "tuple") return undefined;
  const { items } = node.left;
  const values =
    node.right.kind === "interval"
      ? [node.right.from, node.right.to]
      : node.right.kind === "tuple"
        ? node.right.items
        : [];
  if (values.length !== items.length || !items.every(({ kind }) => kind === "symbol")) return undefined;
  return items.map((item, index) => ({
    name: item.kind === "symbol" ? item.name : "",
    value: values[index] as Node,
  }));
}

const isDegrees = (part: Node): part is Extract<Node, { kind: "call" }> =>
  part.kind === "call" && part.name === "degrees";
const isTrigonometric = (part: Node) => part.kind === "call" && TRIGONOMETRIC.has(part.name);

function asAngle(part: Node): Node {
  return isDegrees(part) ? productOf([...part.args, constant("pi"), inverse(integerNode(180))]) : part;
}

/** The symbol `i` is the imaginary unit, unless it is the index of a sum. */
function withImaginaryUnit(node: Node): Node {
  if (some(node, (part) => part.kind === "bound" && part.variable.name === "i")) return node;
  return rewrite(node, (part) => (part.kind === "symbol" && part.name === "i" ? constant("i") : part));
}
