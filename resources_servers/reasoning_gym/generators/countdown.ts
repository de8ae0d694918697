import { defineGenerator, times } from "./generator.ts";

interface Item {
  value: number;
  text: string;
}

/** An expression that uses each number once and reaches the target; undefined if there is none. */
export function reach(numbers: readonly number[], target: number): string | undefined {
  const search = (items: readonly Item[]): string | undefined => {
    const [only] = items;
    if (items.length === 1) return only?.value === target ? only.text : undefined;
    for (const [i, a] of items.entries()) {
      for (const [j, b] of items.entries()) {
        if (i === j) continue;
        const rest = items.filter((_, index) => index !== i && index !== j);
        for (const joined of combine(a, b)) {
          const found = search([...rest, joined]);
          if (found !== undefined) return found;
        }
      }
    }
    return undefined;
  };
  return search(numbers.map((value) => ({ value, text: String(value) })));
}

function* combine(a: Item, b: Item): Generator<Item> {
  yield { value: a.value + b.value, text: `(${a.text} + ${b.text})` };
  yield { value: a.value - b.value, text: `(${a.text} - ${b.text})` };
  yield { value: a.value * b.value, text: `(${a.text} * ${b.text})` };
  if (b.value !== 0 && a.value % b.value === 0)
    yield { value: a.value / b.value, text: `(${a.text} / ${b.text})` };
}

/** A target number to reach from other numbers with four operations. */
export const countdown = defineGenerator<{ numbers: number[]; target: number }>({
  task: "countdown",
  draw: (random, level) => {
    for (;;) {
      const numbers = times(level + 2, () => random.int(1, 9 + 5 * level));
      let value = numbers[0] ?? 0;
      for (const number of numbers.slice(1)) {
        const choices = [value + number, value - number, value * number];
        value = random.choice(choices);
      }
      if (value < 10 || value > 500) continue;
      const question =
        `Use each of the numbers ${numbers.join(", ")} exactly once, with +, -, * and / and parentheses as you like, to reach ` +
        `${value}. Answer with the expression only.`;
      return { question, metadata: { numbers, target: value } };
    }
  },
  solve: ({ numbers, target }) => reach(numbers, target) ?? "",
});
