import { defineGenerator, times } from "./generator.ts";

export function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Greatest common divisors of numbers that share a divisor above 1. */
export const commonDivisor = defineGenerator<{ numbers: number[] }>({
  task: "gcd",
  draw: (random, level) => {
    const common = random.int(2, 20 * level);
    const numbers = times(level === 1 ? 2 : 3, () => common * random.int(2, 15 * level));
    return {
      question: `What is the greatest common divisor of ${numbers.join(", ")}?`,
      metadata: { numbers },
    };
  },
  solve: ({ numbers }) => String(numbers.reduce(greatestCommonDivisor)),
});
