import { suggest } from "../base/suggest.ts";

/** ` Did you mean \`x\`?` for the nearest candidate, or an empty text. Never suggests the word itself. */
export function hint(word: string, candidates: Iterable<string>): string {
  const others = [...new Set(candidates)].filter((candidate) => candidate !== word);
  const nearest = suggest(word, others);
  return nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`;
}
