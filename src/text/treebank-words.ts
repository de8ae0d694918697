import { rstrip, SPACE_CLASS, splitWords } from "../python/whitespace.ts";
import { punktSentences } from "./punkt.ts";

const WORD = "\\p{L}\\p{N}_";
const END = `(?![${WORD}])`;

type Rule = readonly [RegExp, string];

const openingQuotes: readonly Rule[] = [
  [/[«“‘„]|`+/g, " $& "],
  [/^"/, "``"],
  [/``/g, " $& "],
  [/([ ([{<])("|'')/g, "$1 `` "],
  [new RegExp(`(?<![${WORD}])'(?!(?:re|ve|ll|m|t|s|d|n)${END})(?=[${WORD}])`, "giu"), "' "],
];

const punctuation: readonly Rule[] = [
  [/([:,])(\P{Nd})/gu, " $1 $2"],
  [/[:,](?=\n?$)/, " $& "],
  [/\.{2,}/g, " $& "],
  [/[;@#$%&]/g, " $& "],
  [/[\u2012-\u2015]/g, " $& "],
];

const marks: readonly Rule[] = [
  [/[?!]/g, " $& "],
  [/([^'])' /g, "$1 ' "],
  [/\*/g, " $& "],
  [/[\][(){}<>]/g, " $& "],
  [/--/g, " -- "],
];

const closingQuotes: readonly Rule[] = [
  [/[»”’]/g, " $& "],
  [/''/g, " '' "],
  [/"/g, " '' "],
  [new RegExp(`[${SPACE_CLASS}]+`, "g"), " "],
  [/([^' ])('[sSmMdD]|') /g, "$1 $2 "],
  [/([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) /g, "$1 $2 "],
];

const joined = (first: string, second: string, end = END): Rule => [
  new RegExp(`(?<![${WORD}])(${first})(${second})${end}`, "giu"),
  " $1 $2 ",
];

const contractions: readonly Rule[] = [
  joined("can", "not"),
  joined("d", "'ye"),
  joined("gim", "me"),
  joined("gon", "na"),
  joined("got", "ta"),
  joined("lem", "me"),
  joined("more", "'n"),
  joined("wan", "na", `(?=[${SPACE_CLASS}])`),
  [new RegExp(` ('t)(is)${END}`, "giu"), " $1 $2 "],
  [new RegExp(` ('t)(was)${END}`, "giu"), " $1 $2 "],
];

function apply(text: string, rules: readonly Rule[]): string {
  return rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/**
 * Splits the period that ends a sentence off its word, past closing characters and white space. A pattern for this
 * backtracks over every run of spaces; looking from the end does not.
 */
function splitFinalPeriod(text: string, closing: string, space: string): string {
  let at = rstrip(text).length;
  while (at > 0 && closing.includes(text[at - 1] ?? "")) at--;
  const period = at - 1;
  if (period < 1 || text[period] !== "." || text[period - 1] === ".") return text;
  let end = at;
  while (end < text.length && closing.includes(text[end] ?? "")) end++;
  return `${text.slice(0, period)} .${space}${text.slice(at, end)} `;
}

/** The tokens of one sentence by the Treebank conventions as NLTK applies them: `can't` is `ca` and `n't`. */
export function treebankWords(sentence: string): string[] {
  let text = apply(sentence, openingQuotes);
  text = splitFinalPeriod(text, "])}>\"'»”’ ", " ");
  text = apply(text, punctuation);
  text = splitFinalPeriod(text, "])}>\"'", "");
  text = apply(text, marks);
  text = apply(` ${text} `, closingQuotes);
  return splitWords(apply(text, contractions));
}

/** The tokens of an English text, sentence by sentence. */
export function wordTokens(text: string): string[] {
  return punktSentences(text).flatMap(treebankWords);
}
