/**
 * Natural language for verifiers: sentences, words, syllables, languages.
 *
 * @module
 */
export { countSyllables } from "./count-syllables.ts";
export { detectLanguage } from "./detect-language.ts";
export { punktSentences } from "./punkt.ts";
export { splitSentences } from "./split-sentences.ts";
export { treebankWords, wordTokens } from "./treebank-words.ts";
