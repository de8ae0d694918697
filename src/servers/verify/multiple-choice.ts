/** Reads the chosen option from a text: by its letter, by its text, or by patterns of the data. */
import { codePointLength, splitWords, strip } from "../../base/python/door.ts";
import { compilePyRegex, type PyRegex, RegexBudgetError, RegexSyntaxError } from "../../base/python/re.ts";

/** The options of a question in the data: objects from letter to text. An option with a null text does not exist. */
export type ChoiceOptions = readonly Readonly<Record<string, string | null>>[];

const letter = /^\p{L}$/u;

/** The letters of the options, in upper case. */
export function offeredLetters(options: ChoiceOptions | null | undefined): Set<string> {
  const letters = new Set<string>();
  for (const entry of options ?? []) {
    for (const [key, text] of Object.entries(entry)) {
      if (text !== null && letter.test(key)) letters.add(key.toUpperCase());
    }
  }
  return letters;
}

/** Whether a text is a single letter of any script. */
export function isSingleLetter(text: string): boolean {
  return codePointLength(text) === 1 && letter.test(text);
}

/** The form in which texts of options are compared: lower case, with white space collapsed. */
export function comparableText(text: string): string {
  return splitWords(text.toLowerCase()).join(" ");
}

/** The letter and comparable text of each option that has a text. */
export function comparableOptions(
  options: ChoiceOptions | null | undefined,
  letters: ReadonlySet<string>,
): { letter: string; text: string }[] {
  return (options ?? []).flatMap((entry) =>
    Object.entries(entry).flatMap(([key, text]) =>
      text !== null && letters.has(key.toUpperCase())
        ? [{ letter: key.toUpperCase(), text: comparableText(text) }]
        : [],
    ),
  );
}

/** The letter of the option with this text. */
export function letterOfText(
  text: string,
  options: ChoiceOptions | null | undefined,
  letters: ReadonlySet<string>,
): string | undefined {
  const wanted = comparableText(text);
  return comparableOptions(options, letters).find((option) => option.text === wanted)?.letter;
}

/** The first four letters in other scripts. */
const foreignLetters: Readonly<Record<string, string>> = {
  أ: "A",
  ب: "B",
  ج: "C",
  د: "D",
  অ: "A",
  ব: "B",
  ড: "C",
  ঢ: "D",
  Ａ: "A",
  Ｂ: "B",
  Ｃ: "C",
  Ｄ: "D",
};
const anyForeignLetter = new RegExp(`[${Object.keys(foreignLetters).join("")}]`, "gu");

/** Replaces Arabic, Bengali and full-width letters by a space and the Latin letter, and strips the text. */
export function latinLetters(text: string): string {
  return strip(text.replace(anyForeignLetter, (foreign) => ` ${foreignLetters[foreign] ?? foreign}`));
}

/** A pattern of the data has more than one group, so the answer is ambiguous. */
export class AmbiguousPatternError extends RegexSyntaxError {
  constructor() {
    super("an answer pattern must have at most one group", 0);
  }
}

/**
 * The answer by the patterns of the data, which ignore case: the last match of the first pattern that yields a letter (also
 * one without an option) or the text of an option. A pattern that does not compile or takes too many steps yields nothing.
 */
export function choiceByPatterns(
  text: string,
  patterns: string | readonly string[],
  options: ChoiceOptions | null | undefined,
): string | undefined {
  const letters = offeredLetters(options);
  for (const pattern of typeof patterns === "string" ? [patterns] : patterns) {
    const captured = lastCapture(text, pattern);
    if (captured === undefined) continue;
    const answer = latinLetters(strip(captured)).toUpperCase();
    const choice = isSingleLetter(answer) ? answer : letterOfText(answer, options, letters);
    if (choice !== undefined) return choice;
  }
  return undefined;
}

function lastCapture(text: string, pattern: string): string | undefined {
  try {
    const regex = compilePyRegex(pattern, { ignoreCase: true });
    return lastMatch(regex, text);
  } catch (error) {
    if (error instanceof AmbiguousPatternError) throw error;
    if (error instanceof RegexSyntaxError || error instanceof RegexBudgetError) return undefined;
    throw error;
  }
}

function lastMatch(regex: PyRegex, text: string): string | undefined {
  let last: string | undefined;
  for (const match of regex.finditer(text)) {
    if (regex.groups > 1) throw new AmbiguousPatternError();
    last = match.group(regex.groups) ?? "";
  }
  return last;
}
