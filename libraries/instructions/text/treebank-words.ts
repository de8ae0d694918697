import { rstrip, SPACE_CLASS, splitWords } from "nemo-gym/python";
import { punktSentences } from "./punkt.ts";

const WORD = "\\p{L}\\p{N}_";
const END = `(?![${WORD}])`;

/** A replacement, and the characters of which it needs at least one: most sentences contain few of them. */
type Rule = readonly [characters: string, pattern: RegExp, replacement: string];

const openingQuotes: readonly Rule[] = [
  ["«“‘„`", /[«“‘„]|`+/g, " $& "],
  ['"', /^"/, "``"],
  ['`"', /``/g, " $& "],
  ["\"'", /([ ([{<])("|'')/g, "$1 `` "],
  ["'", new RegExp(`(?<![${WORD}])'(?!(?:re|ve|ll|m|t|s|d|n)${END})(?=[${WORD}])`, "giu"), "' "],
];

const punctuation: readonly Rule[] = [
  [":,", /([:,])(\P{Nd})/gu, " $1 $2"],
  [":,", /[:,](?=\n?$)/, " $& "],
  [".", /\.{2,}/g, " $& "],
  [";@#$%&", /[;@#$%&]/g, " $& "],
  ["\u2012\u2013\u2014\u2015", /[\u2012-\u2015]/g, " $& "],
];

const marks: readonly Rule[] = [
  ["?!", /[?!]/g, " $& "],
  ["'", /([^'])' /g, "$1 ' "],
  ["*", /\*/g, " $& "],
  ["[](){}<>", /[\][(){}<>]/g, " $& "],
  ["-", /--/g, " -- "],
];

const closingQuotes: readonly Rule[] = [
  ["»”’", /[»”’]/g, " $& "],
  ["'", /''/g, " '' "],
  ['"', /"/g, " '' "],
  ["'\"", new RegExp(`[${SPACE_CLASS}]+`, "g"), " "],
  ["'\"", /([^' ])('[sSmMdD]|') /g, "$1 $2 "],
  ["'", /([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) /g, "$1 $2 "],
];

const CONTRACTION = /cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna|'tis|'twas/iu;

const joined = (first: string, second: string, end = END): [RegExp, string] => [
  new RegExp(`(?<![${WORD}])(${first})(${second})${end}`, "giu"),
  " $1 $2 ",
];

const contractions: readonly [RegExp, string][] = [
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

/** For every character, the bits of the rules that it can trigger. */
const triggers = new Uint32Array(0x2020);
const bits = new Map<Rule, number>();
for (const rule of [...openingQuotes, ...punctuation, ...marks, ...closingQuotes]) {
  const bit = 1 << bits.size;
  bits.set(rule, bit);
  for (const character of rule[0]) {
    const code = character.charCodeAt(0);
    triggers[code] = (triggers[code] ?? 0) | bit;
  }
}

/** The rules that may apply to a text, as bits. */
function rulesFor(text: string): number {
  let found = 0;
  for (let index = 0; index < text.length; index++) found |= triggers[text.charCodeAt(index)] ?? 0;
  return found;
}

function apply(text: string, applicable: number, rules: readonly Rule[]): string {
  let result = text;
  for (const rule of rules) {
    if (applicable & (bits.get(rule) ?? 0)) result = result.replace(rule[1], rule[2]);
  }
  return result;
}

/**
 * Separates the period that ends a sentence from its word, past closing characters and white space. A regular expression would
 * backtrack over every run of spaces; a search from the end does not.
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

/** The tokens of one sentence by the Treebank conventions of NLTK: `can't` becomes `ca` and `n't`. */
export function treebankWords(sentence: string): string[] {
  const applicable = rulesFor(sentence);
  let text = apply(sentence, applicable, openingQuotes);
  text = splitFinalPeriod(text, "])}>\"'»”’ ", " ");
  text = apply(text, applicable, punctuation);
  text = splitFinalPeriod(text, "])}>\"'", "");
  text = apply(text, applicable, marks);
  text = apply(` ${text} `, applicable, closingQuotes);
  if (CONTRACTION.test(text)) {
    for (const [pattern, replacement] of contractions) text = text.replace(pattern, replacement);
  }
  return splitWords(text);
}

/** The tokens of an English text, sentence by sentence. */
export function wordTokens(text: string): string[] {
  return punktSentences(text).flatMap(treebankWords);
}
