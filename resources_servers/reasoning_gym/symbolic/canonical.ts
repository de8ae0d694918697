import type { Expression } from "./parse-expression.ts";
import { add, multiply, negate, ONE, power, type Rational, rational, ZERO } from "./rational.ts";

/** A sum of monomials with their coefficients; the empty monomial is the constant. */
type Sum = Map<string, { coefficient: Rational; factors: Factors }>;
/** Bases, identified by their canonical text, with their exponents. */
type Factors = Map<string, Rational>;

/**
 * A text that is equal for two expressions if and only if a computer algebra system considers them equal without expanding them:
 * sums and products are flattened and sorted, like terms and powers are combined, numbers are multiplied into sums. Products of
 * sums stay products.
 */
export function canonicalText(expression: Expression): string {
  return sumText(canonical(expression));
}

function canonical(expression: Expression): Sum {
  switch (expression.kind) {
    case "number":
      // 2.0 and 2 are different numbers in the structure of an expression.
      return expression.float
        ? single(ONE, new Map([[`float ${numberText(expression.value)}`, ONE]]))
        : constant(expression.value);
    case "symbol":
      return single(ONE, new Map([[expression.name, ONE]]));
    case "sum":
      return added(canonical(expression.left), canonical(expression.right));
    case "product":
      return multiplied(canonical(expression.left), canonical(expression.right));
    case "quotient":
      return multiplied(
        canonical(expression.left),
        raised(canonical(expression.right), constant(negate(ONE))),
      );
    case "power":
      return raised(canonical(expression.base), canonical(expression.exponent));
    case "integral":
      return single(
        ONE,
        new Map([[`Integral(${sumText(canonical(expression.integrand))}, ${expression.variable})`, ONE]]),
      );
    case "call":
      return single(ONE, new Map([[`${expression.name}(${sumText(canonical(expression.argument))})`, ONE]]));
  }
}

function single(coefficient: Rational, factors: Factors): Sum {
  if (coefficient.n === 0n) return new Map();
  return new Map([[factorsText(factors), { coefficient, factors }]]);
}

const constant = (value: Rational): Sum => single(value, new Map());

/** The value of a sum that consists of a number only. */
function asNumber(sum: Sum): Rational | undefined {
  if (sum.size === 0) return ZERO;
  const term = sum.size === 1 ? sum.get("") : undefined;
  return term?.coefficient;
}

function added(left: Sum, right: Sum): Sum {
  const result: Sum = new Map(left);
  for (const [key, term] of right) {
    const coefficient = add(result.get(key)?.coefficient ?? ZERO, term.coefficient);
    if (coefficient.n === 0n) result.delete(key);
    else result.set(key, { coefficient, factors: term.factors });
  }
  return result;
}

function scaled(sum: Sum, factor: Rational): Sum {
  if (factor.n === 0n) return new Map();
  return new Map(
    [...sum].map(([key, { coefficient, factors }]) => [
      key,
      { coefficient: multiply(coefficient, factor), factors },
    ]),
  );
}

/** A sum as a factor of a product: a single term is split into its factors, several terms stay together. */
function asTerm(sum: Sum): { coefficient: Rational; factors: Factors } {
  const [only] = sum.values();
  if (sum.size === 1 && only !== undefined) return only;
  return { coefficient: ONE, factors: new Map([[`(${sumText(sum)})`, ONE]]) };
}

function multiplied(left: Sum, right: Sum): Sum {
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== undefined) return scaled(right, a);
  if (b !== undefined) return scaled(left, b);
  const [x, y] = [asTerm(left), asTerm(right)];
  const factors: Factors = new Map(x.factors);
  for (const [base, exponent] of y.factors) {
    const total = add(factors.get(base) ?? ZERO, exponent);
    if (total.n === 0n) factors.delete(base);
    else factors.set(base, total);
  }
  return single(multiply(x.coefficient, y.coefficient), factors);
}

function raised(base: Sum, exponent: Sum): Sum {
  const by = asNumber(exponent);
  if (by === undefined) {
    return single(ONE, new Map([[`(${sumText(base)})**(${sumText(exponent)})`, ONE]]));
  }
  const number = asNumber(base);
  if (by.d === 1n) {
    if (number !== undefined) return constant(power(number, by.n));
    if (by.n === 0n) return constant(ONE);
    const { coefficient, factors } = asTerm(base);
    const powered = new Map([...factors].map(([key, own]) => [key, multiply(own, by)]));
    return single(power(coefficient, by.n), powered);
  }
  // Takes the root of a single base only, because signs could get lost otherwise.
  const key = number === undefined && base.size === 1 ? sumText(base) : `(${sumText(base)})`;
  return single(ONE, new Map([[key, by]]));
}

const numberText = ({ n, d }: Rational): string => (d === 1n ? `${n}` : `${n}/${d}`);

function factorsText(factors: Factors): string {
  return [...factors]
    .map(([base, exponent]) => `${base}^${numberText(exponent)}`)
    .sort()
    .join("*");
}

function sumText(sum: Sum): string {
  if (sum.size === 0) return numberText(rational(0n));
  return [...sum]
    .map(([key, { coefficient }]) => `${numberText(coefficient)}*${key}`)
    .sort()
    .join(" + ");
}
