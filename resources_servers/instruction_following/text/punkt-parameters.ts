import { ABBREVIATIONS, COLLOCATIONS, ORTHOGRAPHY, SENTENCE_STARTERS } from "./data/punkt-english.ts";

/** Orthographic contexts a word type was seen in, as bits. */
export const SEEN_MID_UPPER = 1 << 2;
export const SEEN_BEGIN_LOWER = 1 << 4;
export const SEEN_UPPER = (1 << 1) | SEEN_MID_UPPER | (1 << 3);
export const SEEN_LOWER = SEEN_BEGIN_LOWER | (1 << 5) | (1 << 6);

export interface PunktParameters {
  readonly abbreviations: ReadonlySet<string>;
  /** Pairs of word types joined by a space: a period between them ends no sentence. */
  readonly collocations: ReadonlySet<string>;
  readonly sentenceStarters: ReadonlySet<string>;
  readonly orthography: ReadonlyMap<string, number>;
}

let english: PunktParameters | undefined;

/** The trained English model, read when first needed. */
export function englishParameters(): PunktParameters {
  if (!english) {
    const orthography = new Map<string, number>();
    for (const [bits, words] of ORTHOGRAPHY) for (const word of words.split(" ")) orthography.set(word, bits);
    english = {
      abbreviations: new Set(ABBREVIATIONS.split("|")),
      collocations: new Set(COLLOCATIONS.split("|")),
      sentenceStarters: new Set(SENTENCE_STARTERS.split(" ")),
      orthography,
    };
  }
  return english;
}
