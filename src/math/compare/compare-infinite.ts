import { isInfinite, type Node, some } from "../expression/node.ts";
import type { Mode } from "../mode.ts";
import { toNumber } from "../numbers/rational.ts";
import type { Verdict } from "./compare-values.ts";

/** Compares answers that compute with infinity; undefined where neither does. */
export function compareInfinite(gold: Node, answer: Node, mode: Mode): Verdict | undefined {
  if (!computesWithInfinity(gold) && !computesWithInfinity(answer)) return undefined;
  const [a, b] = [extendedValue(gold), extendedValue(answer)];
  // Upstream: SymPy evaluates none of `2*oo` and `oo + 1`, and their difference is undefined.
  const comparable = mode === "strict" || Number.isFinite(a) || isEvaluated(gold) || isEvaluated(answer);
  return { equal: a !== undefined && a === b && comparable, rule: "infinite values" };
}

function computesWithInfinity(node: Node): boolean {
  return (
    some(node, (part) => part.kind === "constant" && part.name === "infinity") &&
    !some(node, (part) => part.kind === "bound")
  );
}

/** Infinity itself and its powers of e: SymPy replaces these by their value. */
const isEvaluated = (node: Node): boolean => isInfinite(node) || isPowerOfE(node);

const isPowerOfE = (node: Node) =>
  (node.kind === "call" && node.name === "exp") ||
  (node.kind === "power" && node.base.kind === "constant" && node.base.name === "e");

/** The value on the extended real line; undefined where there is none. */
function extendedValue(node: Node): number | undefined {
  switch (node.kind) {
    case "constant":
      return {
        pi: Math.PI,
        e: Math.E,
        i: undefined,
        infinity: Number.POSITIVE_INFINITY,
        undefined: undefined,
      }[node.name];
    case "number":
    case "float":
      return toNumber(node.value);
    case "add": {
      // A real symbol does not move infinity.
      const parts = node.args.filter(({ kind }) => kind !== "symbol");
      const sum = combined(parts, (total, part) => total + part);
      return parts.length === node.args.length || sum === undefined || !Number.isFinite(sum)
        ? sum
        : undefined;
    }
    case "multiply":
      return combined(node.args, (total, part) => total * part);
    case "power": {
      const [base, exponent] = [extendedValue(node.base), extendedValue(node.exponent)];
      if (base === undefined || exponent === undefined) return undefined;
      return base < 0 && !Number.isInteger(exponent) ? undefined : known(base ** exponent);
    }
    case "call": {
      const [argument] = node.args.map(extendedValue);
      return node.name === "exp" && argument !== undefined ? Math.exp(argument) : undefined;
    }
    default:
      return undefined;
  }
}

function combined(
  parts: readonly Node[],
  combine: (total: number, part: number) => number,
): number | undefined {
  const values = parts.map(extendedValue);
  const [first, ...rest] = values;
  const total = rest.reduce(
    (sum, part) => (sum === undefined || part === undefined ? undefined : combine(sum, part)),
    first,
  );
  return total === undefined ? undefined : known(total);
}

const known = (value: number) => (Number.isNaN(value) ? undefined : value);
