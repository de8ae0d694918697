import { spend, withinBudget } from "../budget.ts";
import { differentiate } from "../expression/differentiate.ts";
import { infinityOf, type Node, symbolKey } from "../expression/node.ts";
import * as c from "./complex.ts";
import { exactValue } from "./exact.ts";
import { integrate, limitOf, seriesOf } from "./numeric-bounds.ts";
import { toNumber } from "./rational.ts";

export type ComplexPoint = ReadonlyMap<string, c.Complex>;

const NOWHERE: ComplexPoint = new Map();
const ONE = c.complex(1, 0, 0);
/** Entries of a map that are copied in one step. */
const MAP_ENTRIES = 16;
const GAMMA_STEPS = 8;

/** The value of an expression at a point. Undefined if it has none. */
export function evaluateAt(node: Node, point: ComplexPoint = NOWHERE): c.Complex | undefined {
  const value = (part: Node) => evaluateAt(part, point);
  spend();
  switch (node.kind) {
    case "number":
    case "float": {
      const double = toNumber(node.value);
      return c.complex(double, 0, Number.isSafeInteger(double) ? 0 : undefined);
    }
    case "constant":
      return {
        pi: c.complex(Math.PI),
        e: c.complex(Math.E),
        i: c.complex(0, 1, 0),
        infinity: undefined,
        undefined: undefined,
      }[node.name];
    case "symbol":
      return point.get(symbolKey(node));
    case "percent": {
      const inner = value(node.value);
      return inner && c.divide(inner, c.complex(100, 0, 0));
    }
    case "add":
    case "multiply": {
      const combine = node.kind === "add" ? c.add : c.multiply;
      let total: c.Complex | undefined;
      for (const arg of node.args) {
        const next = value(arg);
        if (next === undefined) return undefined;
        total = total === undefined ? next : combine(total, next);
      }
      return total;
    }
    case "power": {
      const base = value(node.base);
      const exponent = base && value(node.exponent);
      if (!base || !exponent) return undefined;
      if (node.exponent.kind === "number" && node.exponent.value.n === 1n && node.exponent.value.d === 2n)
        return c.sqrt(base);
      return c.power(base, exponent);
    }
    case "call":
      return callOf(node.name, node.args, value);
    case "apply":
      return unknownFunction(node.name, node.args.map(value));
    case "bound":
      return boundOf(node, point);
    default:
      return undefined;
  }
}

function boundOf(node: Extract<Node, { kind: "bound" }>, point: ComplexPoint): c.Complex | undefined {
  const key = symbolKey(node.variable);
  const at = (x: c.Complex) => {
    spend(point.size / MAP_ENTRIES);
    return evaluateAt(node.body, new Map(point).set(key, x));
  };
  const end = (part: Node | undefined): number | undefined => {
    if (part === undefined) return undefined;
    const infinity = infinityOf(part);
    if (infinity !== undefined) return infinity;
    const value = evaluateAt(part, point);
    return value && Math.abs(value.im) < 1e-12 ? value.re : undefined;
  };
  if (node.operator === "derivative") {
    const derivative = differentiate(node.body, node.variable);
    return derivative && evaluateAt(derivative, point);
  }
  const from = end(node.from);
  if (from === undefined) return undefined;
  if (node.operator === "limit") return limitOf(at, from);
  const to = end(node.to);
  if (to === undefined) return undefined;
  return node.operator === "integral" ? integrate(at, from, to) : seriesOf(node.operator, at, from, to);
}

type Evaluate = (part: Node) => c.Complex | undefined;

function callOf(name: string, parts: readonly Node[], value: Evaluate): c.Complex | undefined {
  const args: c.Complex[] = [];
  if (name === "det" || name === "transpose") return undefined;
  for (const part of parts) {
    const arg = value(part);
    if (arg === undefined) return undefined;
    args.push(arg);
  }
  const [a = ONE, b = ONE] = args;
  const unary = UNARY[name];
  if (unary) return unary(a);
  switch (name) {
    case "log":
      return c.divide(c.log(a), c.log(b));
    case "floor":
      return step(a, Math.floor);
    case "ceiling":
      return step(a, Math.ceil);
    case "binomial":
      return binomial(a, b);
    case "mod": {
      if (a.im !== 0 || b.im !== 0) return undefined;
      const quotient = step(c.divide(a, b), Math.floor);
      return quotient && c.subtract(a, c.multiply(b, quotient));
    }
    case "max":
    case "min":
      if (args.some(({ im }) => im !== 0)) return undefined;
      return args.reduce((best, next) =>
        (name === "max" ? next.re > best.re : next.re < best.re) ? next : best,
      );
    default:
      return undefined;
  }
}

const UNARY: Readonly<Record<string, (a: c.Complex) => c.Complex>> = {
  sin: c.sin,
  cos: c.cos,
  tan: (a) => c.divide(c.sin(a), c.cos(a)),
  cot: (a) => c.divide(c.cos(a), c.sin(a)),
  sec: (a) => c.divide(ONE, c.cos(a)),
  csc: (a) => c.divide(ONE, c.sin(a)),
  asin: c.asin,
  acos: c.acos,
  atan: c.atan,
  acot: (a) => c.atan(c.divide(ONE, a)),
  asec: (a) => c.acos(c.divide(ONE, a)),
  acsc: (a) => c.asin(c.divide(ONE, a)),
  sinh: c.sinh,
  cosh: c.cosh,
  tanh: (a) => c.divide(c.sinh(a), c.cosh(a)),
  coth: (a) => c.divide(c.cosh(a), c.sinh(a)),
  sech: (a) => c.divide(ONE, c.cosh(a)),
  csch: (a) => c.divide(ONE, c.sinh(a)),
  asinh: c.asinh,
  acosh: c.acosh,
  atanh: c.atanh,
  exp: c.exp,
  abs: c.abs,
  factorial: (a) => {
    spend(GAMMA_STEPS);
    return c.gamma(c.add(a, ONE));
  },
  degrees: (a) => a,
};

/** Floor and ceiling. A value whose error includes a whole number is rounded to that number. */
function step(a: c.Complex, round: (value: number) => number): c.Complex | undefined {
  if (a.im !== 0) return undefined;
  const nearest = Math.round(a.re);
  const safe = Math.abs(a.re - nearest) > a.error || a.error === 0;
  return c.complex(safe ? round(a.re) : nearest, 0, 0);
}

function binomial(n: c.Complex, k: c.Complex): c.Complex {
  spend(3 * GAMMA_STEPS);
  if (k.im === 0 && Number.isInteger(k.re) && k.re >= 0 && k.re <= 64) {
    let result = ONE;
    for (let index = 0; index < k.re; index++) {
      result = c.multiply(
        result,
        c.divide(c.subtract(n, c.complex(index, 0, 0)), c.complex(index + 1, 0, 0)),
      );
    }
    return result;
  }
  const bottom = c.multiply(c.gamma(c.add(k, ONE)), c.gamma(c.add(c.subtract(n, k), ONE)));
  return c.divide(c.gamma(c.add(n, ONE)), bottom);
}

/** A smooth function for an unknown name. Values are equal for equal names and arguments, and otherwise almost never. */
function unknownFunction(name: string, args: readonly (c.Complex | undefined)[]): c.Complex | undefined {
  let seed = 7;
  for (const character of name) seed = (seed * 31 + character.charCodeAt(0)) % 1009;
  let sum = c.complex(0.37 + seed / 503);
  for (const [index, arg] of args.entries()) {
    if (arg === undefined) return undefined;
    sum = c.add(sum, c.multiply(arg, c.complex(0.61 + index * 0.23 + (seed % 17) / 19)));
  }
  return c.add(c.sin(sum), c.multiply(sum, c.complex(0.5, 0, 0)));
}

/** The real or infinite value of an expression without symbols. Undefined if it has none. */
export function evaluateConstant(node: Node): number | undefined {
  const infinity = infinityOf(node);
  if (infinity !== undefined) return infinity;
  const exact = withinBudget(() => {
    const value = exactValue(node);
    return value && toNumber(value);
  });
  if (exact !== undefined) return exact;
  const value = evaluateAt(node);
  return value && c.isKnown(value) && Math.abs(value.im) <= 1e-12 * (1 + Math.abs(value.re))
    ? value.re
    : undefined;
}
