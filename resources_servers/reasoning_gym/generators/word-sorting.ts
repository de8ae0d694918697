import { byCodePoint } from "nemo-gym/python";
import { defineGenerator } from "./generator.ts";
import { VOCABULARY } from "./vocabulary.ts";

interface Words {
  original_words: string[];
  sorted_words: string[];
  direction: "ascending" | "descending";
}

function sort(words: readonly string[], direction: Words["direction"]): string[] {
  const sorted = [...words].sort(byCodePoint);
  return direction === "ascending" ? sorted : sorted.reverse();
}

/** Words to sort alphabetically, ascending or descending. */
export const wordSorting = defineGenerator<Words>({
  task: "word_sorting",
  draw: (random, level) => {
    const original_words = random.sample(VOCABULARY, 3 + 3 * level);
    const direction = random.choice(["ascending", "descending"] as const);
    const question =
      `Sort these words in ${direction} alphabetical order: ${original_words.join(", ")}\n` +
      "Answer with the words separated by commas.";
    return {
      question,
      metadata: { original_words, direction, sorted_words: sort(original_words, direction) },
    };
  },
  solve: ({ original_words, direction }) => sort(original_words, direction).join(", "),
});
