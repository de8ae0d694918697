import { isLower, isUpper, splitWords, strip } from "nemo-gym/python";
import type { Instruction, Instructions } from "../instruction.ts";
import { isRatioWithin, isRelated } from "./arguments.ts";
import { phrasePattern } from "./keywords.ts";
import type { Language } from "./languages.ts";
import { sentencesOf } from "./text.ts";

const isLetter = (character: string) => /^\p{L}$/u.test(character);
const isDigit = (character: string) => /^[\p{Nd}²³¹⁰⁴-⁹₀-₉]$/u.test(character);

/** Whether neighbouring letters always have different cases. */
function isAlternating(word: string): boolean {
  let wasUpper: boolean | undefined;
  for (const character of word) {
    const isCapital = isLetter(character) ? isUpper(character) : undefined;
    if (isCapital !== undefined && isCapital === wasUpper) return false;
    wasUpper = isCapital;
  }
  return true;
}

/** Whether only the first letter is a capital; after a digit, no letter may be one. */
function isCapitalized(word: string): boolean {
  const [first = "", ...rest] = [...word];
  if (isDigit(first)) return rest.every((character) => !isLetter(character) || isLower(character));
  const [initial, ...others] = [...word].filter(isLetter);
  return initial === undefined || (isUpper(initial) && others.every(isLower));
}

/** Whether each word of a text starts with a capital that small letters follow. */
function isTitle(text: string): boolean {
  const words = text.match(/[\p{Lu}\p{Lt}\p{Ll}]+/gu) ?? [];
  return words.length > 0 && words.every((word) => /^[\p{Lu}\p{Lt}]\p{Ll}*$/u.test(word));
}

function count(text: string, matches: (character: string) => boolean): number {
  return [...text].filter(matches).length;
}

const lastCharacterKinds: Readonly<Record<string, (character: string) => boolean>> = {
  uppercase: isUpper,
  lowercase: isLower,
  digit: isDigit,
  special: (character) => !/[\p{L}\p{N}]/u.test(character),
};

/** All whole occurrences of the target, of which there must be one, have a property. */
function target(has: (text: string) => boolean): Instruction {
  return {
    kwargs: "any",
    check(text, kwargs) {
      const found = text.match(phrasePattern(kwargs.text("target_string"), "A-Za-z0-9")) ?? [];
      return found.length > 0 && found.every((match) => has(strip(strip(match, '"'), "'")));
    },
  };
}

export function caseInstructions({ ends, vowels }: Language): Instructions {
  const isVowel = (character: string) => vowels.includes(character.toLowerCase());
  const isConsonant = (character: string) => isLetter(character) && !isVowel(character);
  return {
    "change_case:all_caps": { kwargs: "any", check: (text) => isUpper(text) },
    "change_case:lowercase": { kwargs: "any", check: (text) => isLower(text) },
    "change_case:alternating": {
      kwargs: "any",
      check: (text) => splitWords(text).every((word) => !/^\p{L}+$/u.test(word) || isAlternating(word)),
    },
    "change_case:first_letter_cap": { kwargs: "any", check: (text) => splitWords(text).every(isCapitalized) },
    "change_case:capital_word_frequency": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated(splitWords(text).filter(isUpper).length, kwargs, "capital_frequency", "capital_relation"),
    },
    "change_case:lowercase_word_frequency": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated(
          splitWords(text).filter(isLower).length,
          kwargs,
          "lowercase_frequency",
          "lowercase_relation",
        ),
    },
    "change_case:all_caps_target": target(isUpper),
    "change_case:lowercase_target": target(isLower),
    "change_case:alternating_target": target(isAlternating),
    "change_case:first_letter_cap_target": target(isTitle),
    "change_case:case_ratio": {
      kwargs: "any",
      check: (text, kwargs) => isRatioWithin(count(text, isLower), count(text, isUpper), kwargs),
    },
    "change_case:first_letter_sentence": {
      kwargs: "any",
      check: (text) =>
        sentencesOf(text, ends).every((sentence) => isUpper([...strip(sentence, "()[]{}\"'")][0] ?? "")),
    },
    "change_case:last_letter": {
      kwargs: "any",
      check(text, kwargs) {
        const last = splitWords(text.replace(/[.!?]+$/, "")).at(-1) ?? "";
        const character = [...strip(last, "()[]{}\"'")].at(-1);
        const kind = kwargs.text("case");
        const matches = Object.hasOwn(lastCharacterKinds, kind) ? lastCharacterKinds[kind] : undefined;
        return character !== undefined && matches?.(character) === true;
      },
    },
    "change_case:vowel_consonant_balance": {
      kwargs: "any",
      check: (text, kwargs) => isRatioWithin(count(text, isVowel), count(text, isConsonant), kwargs),
    },
  };
}
