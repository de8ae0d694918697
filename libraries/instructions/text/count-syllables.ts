import { readData } from "./read-data.ts";

const VOWELS = "aeiouy";

/** Words by their number of syllables, for those that the rule below gets wrong. */
let exceptions: Map<string, number> | undefined;

function known(): Map<string, number> {
  exceptions ??= new Map(
    Object.entries(readData("syllables") as Record<string, string>).flatMap(([count, words]) =>
      words.split(" ").map((word): [string, number] => [word, Number(count)]),
    ),
  );
  return exceptions;
}

/** The number of syllables of an English word in lower case, like syllapy: groups of vowels, without a silent e. 0 for a word with digits. */
export function countSyllables(word: string): number {
  if (word === "" || /\p{Nd}/u.test(word)) return 0;
  const exception = known().get(word);
  if (exception !== undefined) return exception;
  const groups = word.match(/[aeiouy]+/g)?.length ?? 0;
  const silent = word.endsWith("e") ? 1 : 0;
  const sounded = word.length > 2 && word.endsWith("le") && !VOWELS.includes(word.at(-3) ?? "") ? 1 : 0;
  return Math.max(1, groups - silent + sounded);
}
