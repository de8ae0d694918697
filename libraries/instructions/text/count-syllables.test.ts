import { expect, it } from "vitest";
import { countSyllables } from "./count-syllables.ts";

it.each([
  ["go", 1],
  ["table", 2],
  ["make", 1],
  ["the", 1],
  ["rhythm", 1],
  ["area", 3],
  ["people", 2],
  ["xyz", 1],
  ["b2b", 0],
  ["", 0],
])("%s has %d", (word, syllables) => {
  expect(countSyllables(word)).toBe(syllables);
});
