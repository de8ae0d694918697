import { readData } from "./read-data.ts";

/** Orthographic contexts in which a word type was seen, as bits. */
export const SEEN_MID_UPPER = 1 << 2;
export const SEEN_BEGIN_LOWER = 1 << 4;
export const SEEN_UPPER = (1 << 1) | SEEN_MID_UPPER | (1 << 3);
export const SEEN_LOWER = SEEN_BEGIN_LOWER | (1 << 5) | (1 << 6);

export interface PunktParameters {
  readonly abbreviations: ReadonlySet<string>;
  /** Pairs of word types joined by a space: a period between them does not end a sentence. */
  readonly collocations: ReadonlySet<string>;
  readonly sentenceStarters: ReadonlySet<string>;
  readonly orthography: ReadonlyMap<string, number>;
}

/** The layout of `data/punkt-english.json.br`. */
interface PunktData {
  readonly abbreviations: string[];
  readonly collocations: string[];
  readonly sentenceStarters: string[];
  /** Context bits, and the words that have them, separated by spaces. */
  readonly orthography: [number, string][];
}

let english: PunktParameters | undefined;

/** The trained English model. The first call reads it. */
export function englishParameters(): PunktParameters {
  english ??= readParameters();
  return english;
}

function readParameters(): PunktParameters {
  const data = readData("punkt-english") as PunktData;
  return {
    abbreviations: new Set(data.abbreviations),
    collocations: new Set(data.collocations),
    sentenceStarters: new Set(data.sentenceStarters),
    orthography: new Map(
      data.orthography.flatMap(([bits, words]) => words.split(" ").map((word) => [word, bits] as const)),
    ),
  };
}
