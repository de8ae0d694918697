import { readData } from "./read-data.ts";

/** Probabilities of an n-gram in the languages that contain it. */
export interface GramWeights {
  readonly languages: number[];
  readonly weights: number[];
}

export interface LanguageProfiles {
  /** ISO codes; indices of `GramWeights.languages` point here. */
  readonly codes: readonly string[];
  readonly grams: ReadonlyMap<string, GramWeights>;
}

/** The layout of `data/language-profiles.json.br`. The outer index is the language, the next one the length of the n-grams. */
interface ProfileData {
  readonly codes: string[];
  readonly totals: number[][];
  readonly grams: string[][];
  readonly steps: number[][][];
}

let profiles: LanguageProfiles | undefined;

/** The profiles of all known languages. The first call reads them, which takes about 100 ms. */
export function languageProfiles(): LanguageProfiles {
  profiles ??= readProfiles();
  return profiles;
}

function readProfiles(): LanguageProfiles {
  const { codes, totals, grams: texts, steps } = readData("language-profiles") as ProfileData;
  const grams = new Map<string, GramWeights>();
  for (const [language, byLength] of texts.entries()) {
    for (const [index, text] of byLength.entries()) {
      const length = index + 1;
      const total = totals[language]?.[index] ?? 1;
      let count = 0;
      for (const [rank, step] of (steps[language]?.[index] ?? []).entries()) {
        count = rank === 0 ? step : count - step;
        const gram = text.slice(rank * length, (rank + 1) * length);
        const entry = grams.get(gram) ?? { languages: [], weights: [] };
        entry.languages.push(language);
        entry.weights.push(count / total);
        grams.set(gram, entry);
      }
    }
  }
  return { codes, grams };
}
