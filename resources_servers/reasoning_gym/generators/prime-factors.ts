import { defineGenerator, times } from "./generator.ts";

const SMALL_PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23];

/** Numbers to factor into primes. */
export const primeFactors = defineGenerator<{ number: number }>({
  task: "prime_factorization",
  draw: (random, level) => {
    const number = times(level + 2, () => random.choice(SMALL_PRIMES)).reduce(
      (product, prime) => product * prime,
      1,
    );
    const question =
      `Write ${number} as a product of prime numbers, in ascending order with a × between them. ` +
      "For 12 the answer would be: 2 × 2 × 3";
    return { question, metadata: { number } };
  },
  solve: ({ number }) => {
    const factors: number[] = [];
    let rest = number;
    for (let factor = 2; factor * factor <= rest; factor++) {
      for (; rest % factor === 0; rest /= factor) factors.push(factor);
    }
    if (rest > 1) factors.push(rest);
    return factors.join(" × ");
  },
});
