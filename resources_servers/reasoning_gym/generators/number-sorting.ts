import { defineGenerator, times } from "./generator.ts";

/** Lists of numbers to sort. */
export const numberSorting = defineGenerator<{
  original_numbers: string[];
  direction: "ascending" | "descending";
}>({
  task: "number_sorting",
  draw: (random, level) => {
    const original_numbers = times(4 + 3 * level, () =>
      (random.int(-1000, 1000) * 3 + random.int(0, 2) / 4).toFixed(2),
    );
    const direction = random.choice(["ascending", "descending"] as const);
    const question =
      `Sort these numbers in ${direction} order: ${original_numbers.join(", ")}\n` +
      `Answer with a list of texts such as ["-1.50", "2.00"].`;
    return { question, metadata: { original_numbers, direction } };
  },
  solve: ({ original_numbers, direction }) => {
    const sign = direction === "ascending" ? 1 : -1;
    const sorted = [...original_numbers].sort((left, right) => sign * (Number(left) - Number(right)));
    return `[${sorted.map((number) => `"${number}"`).join(", ")}]`;
  },
});
