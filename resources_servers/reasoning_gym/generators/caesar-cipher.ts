import { defineGenerator } from "./generator.ts";
import { VOCABULARY } from "./vocabulary.ts";

function shift(text: string, by: number): string {
  return text.replace(/[A-Z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 65 + by + 26) % 26) + 65),
  );
}

/** Sentences whose letters are shifted along the alphabet. */
export const caesarCipher = defineGenerator<{ cipher_text: string; rotation: number }>({
  task: "caesar_cipher",
  draw: (random, level) => {
    const clear = random
      .sample(VOCABULARY, 2 + level)
      .join(" ")
      .toUpperCase();
    const rotation = random.int(1, 25);
    const cipher_text = shift(clear, rotation);
    const question =
      `Every letter of this text was replaced by the one ${rotation} places further on in the alphabet, starting again at A ` +
      `after Z. Give the original text in capital letters: ${cipher_text}`;
    return { question, metadata: { cipher_text, rotation } };
  },
  solve: ({ cipher_text, rotation }) => shift(cipher_text, -rotation),
});
