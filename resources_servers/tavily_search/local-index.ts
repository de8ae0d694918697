import { z } from "zod";
import type { SearchProvider } from "../../libraries/web-search/provider.ts";
import { hostOf, isExcluded } from "./page-text.ts";

export const Page = z.object({ url: z.string(), title: z.string(), content: z.string() });
export type Page = z.output<typeof Page>;

const maxResults = 10;
/** The usual constants of BM25. */
const saturation = 1.2;
const lengthWeight = 0.75;

interface Indexed {
  page: Page;
  counts: Map<string, number>;
  length: number;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Searches a fixed set of pages by their words (BM25), so that a run needs no service and can be repeated. */
export function localIndex(pages: readonly Page[]): SearchProvider {
  const documents = pages.map((page): Indexed => {
    const words = wordsOf(`${page.title} ${page.content}`);
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { page, counts, length: words.length };
  });
  const byUrl = new Map(pages.map((page) => [page.url, page]));
  const averageLength =
    documents.reduce((sum, { length }) => sum + length, 0) / Math.max(documents.length, 1);

  const scoreOf = ({ counts, length }: Indexed, word: string, holding: number): number => {
    const count = counts.get(word) ?? 0;
    const rarity = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
    const norm = saturation * (1 - lengthWeight + (lengthWeight * length) / averageLength);
    return (rarity * count * (saturation + 1)) / (count + norm);
  };

  return {
    async search(query, { excludeDomains }) {
      const words = [...new Set(wordsOf(query))].map((word) => ({
        word,
        holding: documents.filter(({ counts }) => counts.has(word)).length,
      }));
      const results = documents
        .filter(({ page }) => !isExcluded(hostOf(page.url), excludeDomains))
        .map((document) => ({
          page: document.page,
          score: words.reduce((sum, { word, holding }) => sum + scoreOf(document, word, holding), 0),
        }))
        .filter(({ score }) => score > 0)
        .sort((left, right) => right.score - left.score)
        .slice(0, maxResults);
      return { results: results.map(({ page }) => page) };
    },
    extract: async (url) => byUrl.get(url)?.content ?? "",
  };
}
