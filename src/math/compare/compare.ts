/**
 * Decides whether two parsed answers are equal. This file compares relations; compare-sets.ts and compare-values.ts the rest.
 *
 * @module
 */
import { spend, withinBudget } from "../budget.ts";
import {
  children,
  freeSymbols,
  inverse,
  isMinusOne,
  type Node,
  negated,
  productOf,
  type RelationNode,
  type RelationOperator,
  rationalNode,
  relation,
  rewrite,
  sumOf,
  symbol,
  symbolKey,
} from "../expression/node.ts";
import { printNode } from "../expression/print.ts";
import { rational } from "../numbers/rational.ts";
import { compareSets, isCollection, realSet } from "./compare-sets.ts";
import { type ComparisonResult, compareValues, type ValueComparison } from "./compare-values.ts";
import { sameSet, union } from "./real-set.ts";
import { solve } from "./solve.ts";

const FLIPPED: Readonly<Record<RelationOperator, RelationOperator>> = {
  "=": "=",
  "!=": "!=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

const NOTHING = union();

/** Compares the expected answer with a given one. The order matters: an interval can answer an expected inequality. */
export function compareNodes(gold: Node, answer: Node, comparison: ValueComparison): ComparisonResult {
  spend();
  const g = unchained(gold);
  const a = unchained(answer);
  if (isEquation(a) && !isEquation(g)) return compareNodes(g, a.right, comparison);
  if (isAssignment(g) && !isEquation(a)) return compareNodes(g.right, a, comparison);
  if (isRelation(g) && isCollection(a)) return compareSolutions(g, a, comparison);
  if (comparison.mode === "strict" && isCollection(g) && isRelation(a))
    return compareSolutions(a, g, comparison);
  if (isRelation(g) || isRelation(a)) return compareRelations(g, a, comparison);
  if (g.kind === "not" || a.kind === "not")
    return { equal: printNode(g) === printNode(a), rule: "written the same" };
  if (isCollection(g) || isCollection(a)) return compareSets(g, a, comparison, compareNodes);
  return compareValues(g, a, comparison);
}

/** `x = y = 3` means x = 3. */
function unchained(node: Node): Node {
  if (node.kind !== "and") return node;
  const [first, last] = [node.parts[0], node.parts.at(-1)];
  if (first?.kind !== "relation" || last?.kind !== "relation" || !node.parts.every(isEquation)) return node;
  return relation("=", first.left, last.right);
}

const isEquation = (node: Node): node is RelationNode => node.kind === "relation" && node.operator === "=";
const isRelation = (node: Node): boolean => node.kind === "relation" || node.kind === "and";

/** An equation with only symbols on its left side. */
function isAssignment(node: Node): node is RelationNode {
  return isEquation(node) && isOfSymbols(node.left);
}

/** Expressions without numbers: `x`, `f(x)`, `a/b`, `AB + BC`, `(x, y)`. */
function isOfSymbols(node: Node): boolean {
  switch (node.kind) {
    case "symbol":
      return true;
    case "power":
      return isOfSymbols(node.base) && (isMinusOne(node.exponent) || isOfSymbols(node.exponent));
    case "add":
    case "multiply":
    case "call":
    case "apply":
    case "tuple":
      return children(node).every(isOfSymbols);
    default:
      return false;
  }
}

function compareSolutions(relationNode: Node, set: Node, comparison: ValueComparison): ComparisonResult {
  const solution = solve(unwrapped(relationNode));
  if (solution === undefined) return { equal: false, rule: "a relation that is not solved, and a set" };
  const numbers = realSet(set, comparison);
  return {
    equal: numbers !== undefined && sameSet(solution, numbers),
    rule: "the solution of a relation, and a set",
  };
}

/** Unknown functions as variables: `0 < f(x) < 1` is the interval of the values of f. */
function unwrapped(node: Node): Node {
  return rewrite(node, (part) => (part.kind === "apply" ? symbol(printNode(part), true) : part));
}

function compareRelations(gold: Node, answer: Node, comparison: ValueComparison): ComparisonResult {
  const no = (rule: string): ComparisonResult => ({ equal: false, rule });
  if (gold.kind === "and" && answer.kind === "and") {
    const same =
      gold.parts.length === answer.parts.length &&
      gold.parts.every((part, index) => compareNodes(part, answer.parts[index] as Node, comparison).equal);
    if (same || comparison.mode === "compat")
      return { equal: same, rule: "chains of relations part by part" };
  }
  if (gold.kind !== "relation" || answer.kind !== "relation") {
    return isRelation(gold) && isRelation(answer) && comparison.mode === "strict"
      ? compareSolvedRelations(gold, answer)
      : no("a relation and something else");
  }
  if ([gold.left, gold.right, answer.left, answer.right].some(isCollection)) {
    const same =
      gold.operator === answer.operator &&
      compareNodes(gold.left, answer.left, comparison).equal &&
      compareNodes(gold.right, answer.right, comparison).equal;
    return { equal: same, rule: "relations side by side" };
  }
  const g = sumOf([gold.left, negated(gold.right)]);
  const a = sumOf([answer.left, negated(answer.right)]);
  if (gold.operator === answer.operator && compareValues(g, a, comparison).equal)
    return { equal: true, rule: "the same relation" };
  if (gold.operator === FLIPPED[answer.operator] && compareValues(g, negated(a), comparison).equal) {
    return { equal: true, rule: "the same relation, read from the other side" };
  }
  // Any two equations between constants differ by a factor, true ones and false ones.
  const fewestSymbols = comparison.mode === "strict" ? 1 : 2;
  if (gold.operator === "=" && answer.operator === "=" && freeSymbols(g).size >= fewestSymbols) {
    if (isConstantFactor(g, a, comparison)) return { equal: true, rule: "equations that differ by a factor" };
  }
  return comparison.mode === "strict" ? compareSolvedRelations(gold, answer) : no("different relations");
}

/** Compares the solutions of two relations in the same variable. */
function compareSolvedRelations(gold: Node, answer: Node): ComparisonResult {
  const [a, b] = [freeSymbols(gold), freeSymbols(answer)];
  if (a.size !== 1 || b.size !== 1 || [...a][0] !== [...b][0])
    return { equal: false, rule: "different relations" };
  const [x, y] = [solve(gold), solve(answer)];
  // Two equations without real solutions can have different complex solutions.
  const noneIsReal = isEquation(gold) && isEquation(answer) && x !== undefined && sameSet(x, NOTHING);
  if (x === undefined || y === undefined || noneIsReal) return { equal: false, rule: "cannot tell" };
  return { equal: sameSet(x, y), rule: "relations with the same solutions" };
}

/** Whether the quotient of two expressions is constant. */
function isConstantFactor(gold: Node, answer: Node, comparison: ValueComparison): boolean {
  if ([...freeSymbols(gold)].sort().join() !== [...freeSymbols(answer)].sort().join()) return false;
  const quotient = productOf([gold, inverse(answer)]);
  return withinBudget(() => compareValues(quotient, moved(quotient), comparison).equal) ?? false;
}

/** The same expression at other values of its symbols. It is equal to the first only if both are constant. */
function moved(node: Node): Node {
  const names = [...freeSymbols(node)].sort();
  return rewrite(node, (part) => {
    if (part.kind !== "symbol") return part;
    const place = BigInt(names.indexOf(symbolKey(part)) + 2);
    return sumOf([
      productOf([rationalNode(rational(place * 2n + 1n, 2n)), part]),
      rationalNode(rational(1n, place + 5n)),
    ]);
  });
}
