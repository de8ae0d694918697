import { defineGenerator } from "./generator.ts";
import { VOCABULARY } from "./vocabulary.ts";

/** How often a letter occurs. */
export const letterCounting = defineGenerator<{ text: string; target_letter: string }>({
  task: "letter_counting",
  draw: (random, level) => {
    const text = random.sample(VOCABULARY, 4 * level).join(" ");
    const target_letter = random.choice([...text.replaceAll(" ", "")]);
    return {
      question: `How many times does the letter "${target_letter}" occur in: "${text}"?`,
      metadata: { text, target_letter },
    };
  },
  solve: ({ text, target_letter }) => String(text.split(target_letter).length - 1),
});
