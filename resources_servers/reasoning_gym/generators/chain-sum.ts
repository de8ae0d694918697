import { defineGenerator, times } from "./generator.ts";

/** Long sums and differences. */
export const chainSum = defineGenerator<{ terms: number[] }>({
  task: "chain_sum",
  draw: (random, level) => {
    const limit = 10 ** (level + 1);
    const terms = times(
      level + 2,
      (index) => (index > 0 && random.random() < 0.5 ? -1 : 1) * random.int(1, limit - 1),
    );
    const expression = terms
      .map((term, index) => (index === 0 ? `${term}` : term < 0 ? `- ${-term}` : `+ ${term}`))
      .join(" ");
    return { question: `What is ${expression}?`, metadata: { terms } };
  },
  solve: ({ terms }) => String(terms.reduce((sum, term) => sum + term, 0)),
});
