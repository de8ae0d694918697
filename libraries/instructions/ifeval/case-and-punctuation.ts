import { isLower, isUpper } from "nemo-gym/python";
import type { Instruction, Instructions } from "../instruction.ts";
import { compare } from "../kwargs.ts";
import { detectLanguage, wordTokens } from "../text/index.ts";

/** A text without letters counts as written in the requested language. */
function isInLanguage(text: string, code: string): boolean {
  const language = detectLanguage(text);
  return language === null || language === code;
}

function without(mark: string): Instruction {
  return { kwargs: [], check: (text) => !text.includes(mark) };
}

/** The languages that an instruction can request. */
const LANGUAGES = new Set(
  "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split(" "),
);

export const caseAndPunctuationInstructions: Instructions = {
  "language:response_language": {
    kwargs: ["language"],
    check(text, kwargs) {
      const language = kwargs.text("language");
      return LANGUAGES.has(language) && isInLanguage(text, language);
    },
  },
  "change_case:capital_word_frequency": {
    kwargs: ["capital_frequency", "capital_relation"],
    check: (text, kwargs) =>
      compare(
        wordTokens(text).filter(isUpper).length,
        kwargs.relation("capital_relation"),
        kwargs.number("capital_frequency"),
      ),
  },
  "change_case:english_capital": { kwargs: [], check: (text) => isUpper(text) && isInLanguage(text, "en") },
  "change_case:english_lowercase": { kwargs: [], check: (text) => isLower(text) && isInLanguage(text, "en") },
  "punctuation:no_comma": without(","),
  "punctuation:punctuation_dot": without("."),
  "punctuation:punctuation_exclamation": without("!"),
};
