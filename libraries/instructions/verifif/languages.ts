import { splitWords } from "nemo-gym/python";

/** What the checks need to know about a language. */
export interface Language {
  /** Characters that end a sentence. */
  readonly ends: string;
  readonly commas: string;
  readonly periods: string;
  /** Question and exclamation marks. */
  readonly marks: string;
  readonly vowels: string;
  /** The vowels that `keywords:vowel_count` counts, if they are not `vowels`. */
  readonly countedVowels?: string;
  /** Whether letters have a case and are vowels or consonants. */
  readonly hasCase: boolean;
  /** The words of a text without list numbers, in lower case. */
  words(text: string): readonly string[];
  /** How many words `length_constraints:number_words` counts. */
  countWords(text: string): number;
  /** Keywords are found anywhere and not only as whole words, because words are not separated. */
  readonly isUnspaced: boolean;
  /** Instructions that cannot be followed in this language. */
  readonly unsupported: ReadonlySet<string>;
}

const latin = {
  ends: ".!?",
  commas: ",",
  periods: ".",
  marks: "?!",
  hasCase: true,
  isUnspaced: false,
  unsupported: new Set<string>(),
  countWords: (text: string) => splitWords(text).filter((word) => /[A-Za-z0-9]/.test(word)).length,
};
const withoutCase = { ...latin, hasCase: false, vowels: "" };

/** Words of letters and digits in any script, with apostrophes, hyphens and points inside. */
const anyWords = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu) ?? [];
const matches = (pattern: RegExp) => (text: string) => text.match(pattern) ?? [];
const counted = (words: (text: string) => readonly string[]) => ({
  words,
  countWords: (text: string) => words(text).length,
});

/** Words of ASCII characters that do not continue with other letters. */
const asciiWords = (text: string) =>
  text
    .toLowerCase()
    .match(
      /(?<![\p{L}\p{N}_])[a-z0-9](?:[a-z0-9'-]*[a-z0-9])?(?:\.[a-z0-9'-]*[a-z0-9])?(?![\p{L}\p{N}_])/gu,
    ) ?? [];

const english: Language = { ...latin, vowels: "aeiou", words: asciiWords };

const wordless =
  "keywords:existence keywords:frequency keywords:forbidden_words keywords:positioning length_constraints:number_words length_constraints:sentence_length length_constraints:word_repetition length_constraints:unique_words length_constraints:word_length length_constraints:avg_word_length length_constraints:paragraph_length startend:quotation detectable_format:sentence_endings";

const languages: Readonly<Record<string, Language>> = {
  en: english,
  de: { ...english, vowels: "aeiouäöü" },
  fre: { ...latin, vowels: "aàâäeéèêëiîïoôöuùûü", countedVowels: "aeiou", words: anyWords },
  es: { ...latin, vowels: "aáeéiíoóuúü", ends: ".!?…", words: anyWords },
  it: { ...latin, vowels: "aàeèéiìoòuù", words: (text) => anyWords(text.replace(/['’]/g, " ")) },
  "pt-BR": { ...latin, vowels: "aáàâãeéêiíoóõôuúü", ends: ".!?…", ...counted(anyWords) },
  ja: {
    ...withoutCase,
    ends: ".!?。！？‼⁉⁈⁇",
    commas: "、,",
    periods: "。．",
    marks: "!?！？‼⁉⁈⁇",
    isUnspaced: true,
    unsupported: new Set(wordless.split(" ")),
    ...counted(matches(/\S/gu)),
  },
  zh: {
    ...withoutCase,
    ends: "。！？.!?",
    commas: ",，、",
    periods: ".。．",
    marks: "?？!！",
    isUnspaced: true,
    ...counted(matches(/\S/gu)),
  },
  ko: { ...withoutCase, ends: "?!？.", ...counted(splitWords) },
  hi: {
    ...withoutCase,
    ends: "!?।॥",
    unsupported: new Set(["punctuation:no_period"]),
    ...counted(matches(/[\u0900-\u0963\u0966-\u097f]+/g)),
  },
  ar: {
    ...withoutCase,
    ends: ".!?؟؛۔",
    commas: ",،",
    periods: ".۔",
    marks: "?!؟",
    ...counted(
      matches(
        /[A-Za-z0-9\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]+(?:['’.-][A-Za-z0-9\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]+)*/g,
      ),
    ),
  },
};

/** The code itself, or `en` for a language without rules of its own. */
export function knownLanguage(code: string): string {
  return Object.hasOwn(languages, code) ? code : "en";
}

/** A language by the code that rows use; English for all others. */
export function languageOf(code: string): Language {
  return languages[knownLanguage(code)] ?? english;
}
