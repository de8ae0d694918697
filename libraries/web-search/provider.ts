/** A page that a search found. */
export interface SearchResult {
  url: string;
  title: string;
  content?: string | null;
}

export interface SearchReply {
  /** An answer instead of results. */
  answer?: string | null;
  results: SearchResult[];
}

/** Where searches and pages come from. */
export interface SearchProvider {
  search(
    query: string,
    options: { excludeDomains: readonly string[]; signal: AbortSignal },
  ): Promise<SearchReply>;
  /** The text of a page, or of its parts that concern the query; "" if there is none. */
  extract(url: string, options: { query?: string; signal: AbortSignal }): Promise<string>;
}
