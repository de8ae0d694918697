/**
 * Natural language for verifiers: sentences, words, languages.
 *
 * @module
 */
export { detectLanguage } from "./detect-language.ts";
export { punktSentences } from "./punkt.ts";
export { splitSentences } from "./split-sentences.ts";
export { treebankWords, wordTokens } from "./treebank-words.ts";
