import { defineGenerator, times } from "./generator.ts";

/** Products of whole numbers. */
export const products = defineGenerator<{ factors: number[] }>({
  task: "products",
  draw: (random, level) => {
    const factors = times(level === 1 ? 2 : level, () => random.int(2, 10 ** level - 1));
    return { question: `Multiply: ${factors.join(" * ")}`, metadata: { factors } };
  },
  solve: ({ factors }) => String(factors.reduce((product, factor) => product * BigInt(factor), 1n)),
});
