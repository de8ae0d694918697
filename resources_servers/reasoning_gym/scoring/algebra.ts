import { parsePyFloat, strip } from "nemo-gym/python";
import { canonicalText } from "../symbolic/canonical.ts";
import { isDerivative } from "../symbolic/evaluate.ts";
import { parseExpression } from "../symbolic/parse-expression.ts";
import { exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";

const integration: Scorer = (answer, entry) =>
  orElse(0, () => {
    const variable = metadata<string>(entry, "variable");
    const integrand = parseExpression(metadata<string>(entry, "integrand"));
    return exactly(isDerivative(parseExpression(unquoted(answer)), integrand, variable));
  });

/** Removes the quotes around an expression. */
function unquoted(text: string): string {
  return /^(['"])[^'"]*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** `3 - 2i`, `-i`, `(4)`, `7j`; undefined for other texts, such as `3i + 2`. */
function parseComplex(text: string): [real: number, imaginary: number] | undefined {
  let plain = text.replaceAll(" ", "").toLowerCase();
  while (plain.length > 1 && plain.startsWith("(") && plain.endsWith(")")) plain = plain.slice(1, -1);
  plain = plain.replaceAll("i", "j");
  if (!plain.includes("j")) {
    const real = parsePyFloat(plain);
    return real === undefined ? undefined : [real, 0];
  }
  if (!plain.endsWith("j")) return undefined;
  const body = plain.slice(0, -1);
  const sign = lastSign(body);
  const real = sign <= 0 ? 0 : parsePyFloat(body.slice(0, sign));
  const imaginary = coefficient(sign <= 0 ? body : body.slice(sign));
  return real === undefined || imaginary === undefined ? undefined : [real, imaginary];
}

/** Start of the imaginary part: the last sign that does not belong to an exponent. */
function lastSign(text: string): number {
  for (let index = text.length - 1; index >= 0; index--) {
    if ((text[index] === "+" || text[index] === "-") && text[index - 1] !== "e") return index;
  }
  return -1;
}

function coefficient(text: string): number | undefined {
  if (text === "" || text === "+") return 1;
  return text === "-" ? -1 : parsePyFloat(text);
}

const complexArithmetic: Scorer = (answer, entry) => {
  const value = parseComplex(answer);
  if (value === undefined) return 0;
  const [real, imaginary = 0] = metadata<number[]>(entry, "result");
  return Math.min(1, Math.exp(-Math.hypot(value[0] - (real ?? 0), value[1] - imaginary)));
};

const MISSING_PENALTY = 0.5;
const EXTRA_PENALTY = 0.5;
const DISTANCE_FACTOR = -10;

function numbersOf(text: string): number[] {
  return text
    .split(",")
    .map((part) => parsePyFloat(strip(part)))
    .filter((value) => value !== undefined)
    .sort((left, right) => left - right);
}

/** Matches every number with the nearest unmatched root. Closer matches score higher; missing and extra roots reduce the score. */
const polynomialEquations: Scorer = (answer, entry) => {
  const roots = numbersOf(oracle(entry));
  const given = numbersOf(answer);
  if (roots.length === 0 && given.length === 0) return 1;
  let reward = 0;
  let matched = 0;
  for (const value of given) {
    let nearest = -1;
    for (const [index, root] of roots.entries()) {
      const distance = Math.abs(value - root);
      if (
        nearest === -1
          ? distance < Number.POSITIVE_INFINITY
          : distance < Math.abs(value - (roots[nearest] ?? 0))
      ) {
        nearest = index;
      }
    }
    if (nearest === -1) continue;
    const [root = 0] = roots.splice(nearest, 1);
    reward += Math.exp(Math.abs(value - root) * DISTANCE_FACTOR);
    matched++;
  }
  const penalty = roots.length * MISSING_PENALTY + (given.length - matched) * EXTRA_PENALTY;
  return Math.max(0, (matched > 0 ? reward / matched : 0) - penalty);
};

const polynomialMultiplication: Scorer = (answer, entry) =>
  orElse(0, () =>
    exactly(canonicalText(parseExpression(answer)) === canonicalText(parseExpression(oracle(entry)))),
  );

export const algebra: Record<string, Scorer> = {
  complex_arithmetic: complexArithmetic,
  intermediate_integration: integration,
  polynomial_equations: polynomialEquations,
  polynomial_multiplication: polynomialMultiplication,
  simple_integration: integration,
};
