import type { PyRandom } from "nemo-gym/python";
import { defineGenerator, times } from "./generator.ts";

/** Coefficients, starting with the constant. */
type Polynomial = number[];

function multiply(a: Polynomial, b: Polynomial): Polynomial {
  const product = times(a.length + b.length - 1, () => 0);
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) product[i + j] = (product[i + j] ?? 0) + x * y;
  return product;
}

function termText(coefficient: number, power: number): string {
  const size = Math.abs(coefficient);
  if (power === 0) return String(size);
  const variable = power === 1 ? "x" : `x**${power}`;
  return size === 1 ? variable : `${size}*${variable}`;
}

/** `3*x**2 - x + 4`. */
function polynomialText(polynomial: Polynomial): string {
  const terms = polynomial
    .map((coefficient, power) => ({ coefficient, power }))
    .reverse()
    .filter(({ coefficient }) => coefficient !== 0);
  if (terms.length === 0) return "0";
  return terms
    .map(({ coefficient, power }, index) => {
      const sign = coefficient < 0 ? "-" : index === 0 ? "" : "+";
      return (index === 0 ? sign : `${sign} `) + termText(coefficient, power);
    })
    .join(" ");
}

function drawPolynomial(random: PyRandom, degree: number): Polynomial {
  return times(degree + 1, (power) => (power === degree ? random.int(1, 9) : random.int(-9, 9)));
}

/** Polynomials to multiply out. */
export const polynomialMultiplication = defineGenerator<{ factors: Polynomial[] }>({
  task: "polynomial_multiplication",
  draw: (random, level) => {
    const factors = times(level === 3 ? 3 : 2, () =>
      drawPolynomial(random, level === 1 ? 1 : random.int(1, 2)),
    );
    const product = factors.map((factor) => `(${polynomialText(factor)})`).join("*");
    return {
      question: `Multiply out: ${product}\nWrite * for products and ** for powers.`,
      metadata: { factors },
    };
  },
  solve: ({ factors }) => polynomialText(factors.reduce(multiply)),
});
