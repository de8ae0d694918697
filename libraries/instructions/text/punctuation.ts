/** Python's `string.punctuation`. */
export const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

const ANY = /[!-/:-@[-`{-~]/g;

/** The text without ASCII punctuation. */
export function withoutPunctuation(text: string): string {
  return text.replace(ANY, "");
}
