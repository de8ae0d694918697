import { greatestCommonDivisor } from "./common-divisor.ts";
import { defineGenerator } from "./generator.ts";

interface Fraction {
  numerator: number;
  denominator: number;
  simplified_numerator: number;
  simplified_denominator: number;
}

/** Fractions that can be reduced. */
export const fractionSimplification = defineGenerator<Fraction>({
  task: "fraction_simplification",
  draw: (random, level) => {
    const limit = 12 * level * level;
    let [top, bottom] = [1, 1];
    while (greatestCommonDivisor(top, bottom) !== 1 || top === bottom) {
      [top, bottom] = [random.int(1, limit), random.int(2, limit)];
    }
    const factor = random.int(2, 10 * level);
    const [numerator, denominator] = [top * factor, bottom * factor];
    return {
      question: `Reduce ${numerator}/${denominator} to lowest terms. Answer with a fraction such as 2/3.`,
      metadata: { numerator, denominator, simplified_numerator: top, simplified_denominator: bottom },
    };
  },
  solve: ({ numerator, denominator }) => {
    const divisor = greatestCommonDivisor(numerator, denominator);
    return `${numerator / divisor}/${denominator / divisor}`;
  },
});
