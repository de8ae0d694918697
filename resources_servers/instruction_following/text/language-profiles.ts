import { PROFILES_AF_TO_HU } from "./data/language-profiles-af-hu.ts";
import { PROFILES_ID_TO_ZH } from "./data/language-profiles-id-zh.ts";

/** How likely an n-gram is in the languages that have it. */
export interface GramWeights {
  readonly languages: number[];
  readonly weights: number[];
}

export interface LanguageProfiles {
  /** ISO codes; indices of `GramWeights.languages` point here. */
  readonly codes: readonly string[];
  readonly grams: ReadonlyMap<string, GramWeights>;
}

let profiles: LanguageProfiles | undefined;

/** The profiles of all known languages, read when first needed (about 100 ms). */
export function languageProfiles(): LanguageProfiles {
  if (profiles) return profiles;
  const codes: string[] = [];
  const grams = new Map<string, { languages: number[]; weights: number[] }>();
  for (const [code, totals, text] of [...PROFILES_AF_TO_HU, ...PROFILES_ID_TO_ZH]) {
    const language = codes.push(code) - 1;
    for (const [, gram = "", count] of text.matchAll(/(\D+)(\d+)/g)) {
      const weight = Number(count) / (totals[gram.length - 1] ?? 1);
      const entry = grams.get(gram);
      if (entry) {
        entry.languages.push(language);
        entry.weights.push(weight);
      } else grams.set(gram, { languages: [language], weights: [weight] });
    }
  }
  profiles = { codes, grams };
  return profiles;
}
