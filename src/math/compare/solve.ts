import {
  freeSymbols,
  infinityOf,
  type Node,
  negated,
  type RelationNode,
  some,
  sumOf,
} from "../expression/node.ts";
import { complex } from "../numbers/complex.ts";
import { evaluateAt } from "../numbers/evaluate.ts";
import { polynomialAt, rationalFunction, realRoots } from "../numbers/polynomial.ts";
import { toNumber } from "../numbers/rational.ts";
import { ALL, complement, intersection, interval, point, type RealSet, union } from "./real-set.ts";

/** The search grid for sign changes on each side of 0: dense near 0, wide far away. */
const GRID = [
  0,
  ...Array.from({ length: 160 }, (_, index) => (index + 1) / 8),
  ...Array.from({ length: 40 }, (_, index) => 20 * 1.2 ** (index + 1)),
];
const MARKS = [
  ...GRID.slice(1)
    .map((x) => -x)
    .reverse(),
  ...GRID,
].map((x) => x + 1e-7 * Math.PI);

type At = (x: number) => number;

/** Relations with more zeros and breaks are not solved. */
const MAX_BREAKS = 30;

/** The real solutions of a relation, or of several at the same time. Undefined if there is not exactly one variable. */
export function solve(node: Node): RealSet | undefined {
  if (node.kind === "and") {
    const parts = node.parts.map((part) => solve(part));
    if (freeSymbols(node).size !== 1) return undefined;
    return parts.reduce((left, right) => left && right && intersection(left, right));
  }
  if (node.kind !== "relation" || freeSymbols(node).size !== 1) return undefined;
  const unbounded = solveUnbounded(node);
  if (unbounded) return unbounded;
  if (some(node, (part) => ["set", "interval", "tuple", "matrix"].includes(part.kind))) return undefined;
  return solveRelation(node);
}

/** Solves the comparison of a symbol with infinity: every real number, or none. */
function solveUnbounded({ operator, left, right }: RelationNode): RealSet | undefined {
  const [side, symbolIsLeft] = left.kind === "symbol" ? [right, true] : [left, false];
  const infinity = infinityOf(side);
  if (infinity === undefined || (symbolIsLeft ? left : right).kind !== "symbol") return undefined;
  if (operator === "=") return union();
  if (operator === "!=") return ALL;
  const isBelow = operator.startsWith("<") === symbolIsLeft;
  return isBelow === infinity > 0 ? ALL : union();
}

function solveRelation({ operator, left, right }: RelationNode): RealSet | undefined {
  const difference = sumOf([left, negated(right)]);
  const [name = ""] = freeSymbols(difference);
  const quotient = rationalFunction(difference, name);
  const [top = [], bottom = []] = [quotient?.top, quotient?.bottom].map((terms) => terms?.map(toNumber));
  const at = quotient
    ? (x: number) => polynomialAt(top, x) / polynomialAt(bottom, x)
    : (x: number) => realValue(difference, name, x);
  const { zeros, breaks } = quotient
    ? {
        zeros: outside(realRoots(quotient.top), realRoots(quotient.bottom)),
        breaks: realRoots(quotient.bottom),
      }
    : signChanges(at);
  if (zeros.length + breaks.length > MAX_BREAKS) return undefined;
  if (operator === "=") return union(...zeros.map(point));
  if (operator === "!=") return complement(union(...zeros.map(point)));
  return regions(at, zeros, breaks, operator);
}

function realValue(node: Node, name: string, x: number): number {
  const value = evaluateAt(node, new Map([[name, complex(x, 0, 0)]]));
  return value && Math.abs(value.im) <= 1e-12 ? value.re : Number.NaN;
}

/** The zeros that are not poles. */
function outside(zeros: readonly number[], poles: readonly number[]): number[] {
  return zeros.filter((zero) => !poles.some((pole) => Math.abs(zero - pole) < 1e-9));
}

/** Joins the intervals between zeros and breaks in which the relation is true. */
function regions(
  at: At,
  zeros: readonly number[],
  breaks: readonly number[],
  operator: "<" | "<=" | ">" | ">=",
): RealSet {
  const inner = [...new Set([...zeros, ...breaks])].sort((a, b) => a - b);
  const ends = [Number.NEGATIVE_INFINITY, ...inner, Number.POSITIVE_INFINITY];
  const holds = (value: number) => (operator.startsWith("<") ? value < 0 : value > 0);
  const sets: RealSet[] = [];
  for (const [index, to] of ends.slice(1).entries()) {
    const from = ends[index] as number;
    if (holds(at(between(from, to)))) sets.push(interval(from, to, true, true));
  }
  if (operator.endsWith("=")) sets.push(...zeros.map(point));
  return union(...sets);
}

function between(from: number, to: number): number {
  if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY) return 0.1;
  if (from === Number.NEGATIVE_INFINITY) return to - 1 - Math.abs(to) / 2;
  if (to === Number.POSITIVE_INFINITY) return from + 1 + Math.abs(from) / 2;
  return (from + to) / 2;
}

/** Searches a grid for zeros (sign changes, and minima that touch 0) and breaks (poles, and ends of the domain). */
function signChanges(at: At): { zeros: number[]; breaks: number[] } {
  const zeros: number[] = [];
  const breaks: number[] = [];
  const values = MARKS.map(at);
  for (const [index, value] of values.entries()) {
    const [x, y, next, before] = [
      MARKS[index] as number,
      MARKS[index + 1] as number,
      values[index + 1],
      values[index - 1],
    ];
    if (next === undefined) break;
    if (value === 0) zeros.push(x);
    else if (Number.isNaN(value) !== Number.isNaN(next)) breaks.push(edge(at, x, y));
    else if (value * next < 0) {
      const root = bisect(at, x, y);
      if (root === undefined) breaks.push(edgeOfSign(at, x, y));
      else zeros.push(root);
    } else if (
      before !== undefined &&
      Math.abs(value) <= Math.abs(before) &&
      Math.abs(value) <= Math.abs(next)
    ) {
      const touch = minimum((t) => Math.abs(at(t)), MARKS[index - 1] as number, y);
      if (Math.abs(at(touch)) < 1e-13 * Math.max(1, Math.abs(before), Math.abs(next)))
        zeros.push(snap(touch, at));
    }
  }
  return {
    zeros: zeros.filter((x, index) => zeros.findIndex((other) => Math.abs(x - other) < 1e-7) === index),
    breaks,
  };
}

function bisect(at: At, from: number, to: number): number | undefined {
  const root = edgeOfSign(at, from, to);
  const value = Math.abs(at(root));
  // At a pole the values grow towards the sign change.
  return Number.isNaN(value) || value > Math.max(Math.abs(at(from)), Math.abs(at(to))) ? undefined : root;
}

function edgeOfSign(at: At, from: number, to: number): number {
  const positive = at(from) > 0;
  const place = search((x) => at(x) > 0 === positive, from, to);
  return snap(place, at);
}

function edge(at: At, from: number, to: number): number {
  const defined = !Number.isNaN(at(from));
  const place = search((x) => !Number.isNaN(at(x)) === defined, from, to);
  return snap(place, undefined);
}

function search(holds: (x: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let index = 0; index < 60; index++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function minimum(f: (x: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let index = 0; index < 100; index++) {
    const [a, b] = [low + (high - low) * 0.382, low + (high - low) * 0.618];
    if (f(a) < f(b)) high = b;
    else low = a;
  }
  return (low + high) / 2;
}

/** A nearby fraction with a small denominator if it is at least as good. */
function snap(x: number, at: At | undefined): number {
  for (let d = 1; d <= 12; d++) {
    const candidate = Math.round(x * d) / d;
    if (Math.abs(candidate - x) > 1e-7 * Math.max(1, Math.abs(x))) continue;
    if (at === undefined || !(Math.abs(at(candidate)) > Math.abs(at(x)))) return candidate;
  }
  return x;
}
