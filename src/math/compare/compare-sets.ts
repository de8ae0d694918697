import { withinBudget } from "../budget.ts";
import { freeSymbols, type IntervalNode, type Node, some } from "../expression/node.ts";
import { printNode } from "../expression/print.ts";
import { evaluateConstant } from "../numbers/evaluate.ts";
import { exactValue } from "../numbers/exact.ts";
import { equal } from "../numbers/rational.ts";
import type { ComparisonResult, ValueComparison } from "./compare-values.ts";
import { ALL, difference, intersection, interval, point, type RealSet, sameSet, union } from "./real-set.ts";
import { solve } from "./solve.ts";

type CompareNodes = (gold: Node, answer: Node, comparison: ValueComparison) => ComparisonResult;

/** Larger sets are compared only in their written order. */
const MAX_UNORDERED = 200;

export function isCollection(node: Node): boolean {
  return ["set", "tuple", "interval", "numberSet", "setOperation"].includes(node.kind);
}

/** Compares sets, tuples and intervals. A single value is a set of one element. */
export function compareSets(
  gold: Node,
  answer: Node,
  comparison: ValueComparison,
  compare: CompareNodes,
): ComparisonResult {
  const same = (rule: string): ComparisonResult => ({ equal: true, rule });
  if (printNode(gold) === printNode(answer)) return same("written the same");
  if (
    comparison.mode === "strict" &&
    isOrdered(gold) !== isOrdered(answer) &&
    isUnordered(gold) !== isUnordered(answer)
  ) {
    return { equal: false, rule: "a set and a tuple" };
  }
  if (gold.kind === "interval" && answer.kind === "interval") {
    const equal = sameOpenness(gold, answer) && sameEnds(gold, answer, comparison, compare);
    return { equal, rule: "intervals by their ends" };
  }
  const [g, a] = [elements(gold, comparison), elements(answer, comparison)];
  if (g && a) {
    if (isOrdered(gold)) return { equal: sameOrder(g, a, comparison, compare), rule: "elements in order" };
    const equal =
      arePartners(g, a, comparison, compare) || (!isOrdered(answer) && sameValues(g, a, comparison, compare));
    return { equal, rule: "elements in any order" };
  }
  const [x, y] = [realSet(gold, comparison), realSet(answer, comparison)];
  if (x && y) return { equal: sameSet(x, y), rule: "sets of real numbers" };
  return { equal: false, rule: "different sets" };
}

/** A tuple, or a pair such as `(1,2)`, which is parsed as an open interval. */
const isOrdered = (node: Node) => node.kind === "tuple" || node.kind === "interval";
/** Several values in braces or in a list. `x=1, y=2` has names and can be a point. */
const isUnordered = (node: Node) =>
  node.kind === "set" && node.items.length > 1 && !node.items.some(isRelation);
const isRelation = ({ kind }: Node) => kind === "relation" || kind === "and";

function sameOpenness(a: IntervalNode, b: IntervalNode): boolean {
  return (a.openFrom === b.openFrom || endless(a.from)) && (a.openTo === b.openTo || endless(a.to));
}

const endless = (node: Node) => some(node, (part) => part.kind === "constant" && part.name === "infinity");

function sameEnds(
  a: IntervalNode,
  b: IntervalNode,
  comparison: ValueComparison,
  compare: CompareNodes,
): boolean {
  return compare(a.from, b.from, comparison).equal && compare(a.to, b.to, comparison).equal;
}

/** The elements of a finite set or tuple. An open interval can be a pair, so its ends count. */
function elements(node: Node, comparison: ValueComparison): readonly Node[] | undefined {
  if (node.kind === "set" || node.kind === "tuple") return node.items;
  if (node.kind === "interval") return node.openFrom && node.openTo ? [node.from, node.to] : undefined;
  if (node.kind === "setOperation") {
    if (node.operator !== "union" && comparison.mode === "compat") return undefined;
    const parts = node.args.map((arg) => (arg.kind === "interval" ? undefined : elements(arg, comparison)));
    const [first, second] = parts;
    if (!first || !second) return undefined;
    const texts = new Set(second.map(printNode));
    if (node.operator === "union")
      return [
        ...first,
        ...second.filter((item) => !first.some((other) => printNode(other) === printNode(item))),
      ];
    return first.filter((item) => texts.has(printNode(item)) === (node.operator === "intersection"));
  }
  return isCollection(node) ? undefined : [node];
}

function sameOrder(
  gold: readonly Node[],
  answer: readonly Node[],
  comparison: ValueComparison,
  compare: CompareNodes,
): boolean {
  return (
    gold.length === answer.length &&
    gold.every((item, index) => compare(item, answer[index] as Node, comparison).equal)
  );
}

/** Whether every element has an equal partner on the other side. */
function arePartners(
  gold: readonly Node[],
  answer: readonly Node[],
  comparison: ValueComparison,
  compare: CompareNodes,
): boolean {
  if (gold.length !== answer.length) return false;
  if (gold.length > MAX_UNORDERED) return sameOrder(gold, answer, comparison, compare);
  const left = [...answer];
  return gold.every((item) => {
    const index = left.findIndex((other) => compare(item, other, comparison).equal);
    if (index !== -1) left.splice(index, 1);
    return index !== -1;
  });
}

/** Compares sets in which a value occurs more than once. */
function sameValues(
  gold: readonly Node[],
  answer: readonly Node[],
  comparison: ValueComparison,
  compare: CompareNodes,
): boolean {
  if (Math.max(gold.length, answer.length) > MAX_UNORDERED) return false;
  const g = distinctValues(gold, comparison, compare);
  const a = distinctValues(answer, comparison, compare);
  const hasDuplicates = g.length < gold.length || a.length < answer.length;
  return hasDuplicates && arePartners(g, a, comparison, compare);
}

function distinctValues(items: readonly Node[], comparison: ValueComparison, compare: CompareNodes): Node[] {
  const kept: Node[] = [];
  for (const item of items)
    if (!kept.some((other) => isDuplicate(other, item, comparison, compare))) kept.push(item);
  return kept;
}

/** Decimals must be equal without rounding. */
function isDuplicate(a: Node, b: Node, comparison: ValueComparison, compare: CompareNodes): boolean {
  if (![a, b].some((node) => some(node, ({ kind }) => kind === "float")))
    return compare(a, b, comparison).equal;
  const [x, y] = [a, b].map((node) => withinBudget(() => exactValue(node)));
  return x !== undefined && y !== undefined && equal(x, y);
}

/** Converts a set to intervals of real numbers. Undefined if its values are not known numbers. */
export function realSet(node: Node, comparison: ValueComparison): RealSet | undefined {
  if (!isCollection(node)) return single(node);
  switch (node.kind) {
    case "numberSet":
      return node.name === "reals" ? ALL : undefined;
    case "interval": {
      const [from, to] = [constantOf(node.from), constantOf(node.to)];
      return from === undefined || to === undefined
        ? undefined
        : interval(from, to, node.openFrom, node.openTo);
    }
    case "set": {
      const points = node.items.map((item) =>
        comparison.mode === "strict" && isRelation(item) ? solve(item) : single(item),
      );
      return points.every((value) => value !== undefined) ? union(...points) : undefined;
    }
    case "setOperation": {
      if (comparison.mode === "compat" && isUnevaluated(node)) return undefined;
      const [a, b] = node.args.map((arg) => realSet(arg, comparison));
      return a && b && { union, intersection, difference }[node.operator](a, b);
    }
    default:
      return undefined;
  }
}

/** SymPy does not evaluate intersections and differences of finite sets. */
function isUnevaluated({ operator, args }: Extract<Node, { kind: "setOperation" }>): boolean {
  return (
    operator === "intersection" || (operator === "difference" && args.every(({ kind }) => kind === "set"))
  );
}

function single(node: Node): RealSet | undefined {
  const value = constantOf(node);
  return value === undefined ? undefined : point(value);
}

function constantOf(node: Node): number | undefined {
  return freeSymbols(node).size > 0 ? undefined : withinBudget(() => evaluateConstant(node));
}
