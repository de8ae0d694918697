import { useCallback, useEffect, useRef, useState } from "react";
import type { ListedRow, RowsPage, SearchProgress } from "../api-types.ts";
import { api } from "./api-client.ts";
import type { Filters } from "./route.ts";

const PAGE = 100;
const SEARCH_POLL_MS = 300;

export interface RowList {
  total: number;
  /** Undefined until its page has come. */
  rowAt: (index: number) => ListedRow | undefined;
  /** Sees to it that these rows are loaded. */
  ensure: (from: number, to: number) => void;
  load: (index: number) => Promise<ListedRow | undefined>;
  search: SearchProgress | null;
  error: string | undefined;
  /** False until the first page for the present filters is there. */
  ready: boolean;
}

/** The list for some filters, loaded page by page as it is scrolled; grows with the file. */
export function useRows(
  filters: Filters,
  version: number | undefined,
  generation: number | undefined,
): RowList {
  const key = JSON.stringify([filters, generation]);
  const pages = useRef({ key, loaded: new Map<number, ListedRow[]>(), pending: new Map<number, string>() });
  const [state, setState] = useState({
    key: "",
    total: 0,
    search: null as SearchProgress | null,
    error: undefined as string | undefined,
    drawn: 0,
  });
  if (pages.current.key !== key) pages.current = { key, loaded: new Map(), pending: new Map() };

  const fetchPage = useCallback(
    async (page: number): Promise<RowsPage | undefined> => {
      const own = pages.current;
      const tag = `${version}`;
      if (own.pending.get(page) === tag) return undefined;
      own.pending.set(page, tag);
      try {
        const answer = await api.rollouts({ ...filters, offset: page * PAGE, limit: PAGE });
        if (pages.current !== own) return undefined;
        own.loaded.set(page, answer.rows);
        setState((before) => ({
          key,
          total: answer.total,
          search: answer.search,
          error: undefined,
          drawn: before.drawn + 1,
        }));
        return answer;
      } catch (error) {
        own.pending.delete(page);
        if (pages.current !== own) return undefined;
        const message = error instanceof Error ? error.message : String(error);
        setState((before) => ({ ...before, key, error: message }));
        return undefined;
      }
    },
    [key, version, filters],
  );

  // What is loaded is asked for again when the file has grown.
  useEffect(() => {
    if (version === undefined) return;
    for (const page of new Set([0, ...pages.current.loaded.keys()])) void fetchPage(page);
  }, [fetchPage, version]);

  // A search goes on in the server; ask until it is through.
  useEffect(() => {
    if (state.key !== key || state.search === null || state.search.done) return;
    const timer = window.setTimeout(() => {
      pages.current.pending.clear();
      for (const page of new Set([0, ...pages.current.loaded.keys()])) void fetchPage(page);
    }, SEARCH_POLL_MS);
    return () => window.clearTimeout(timer);
  }, [state, key, fetchPage]);

  const rowAt = (index: number) => pages.current.loaded.get(Math.floor(index / PAGE))?.[index % PAGE];
  const ensure = (from: number, to: number) => {
    for (let page = Math.floor(from / PAGE); page <= Math.floor(to / PAGE); page++) {
      if (!pages.current.loaded.has(page)) void fetchPage(page);
    }
  };
  const load = async (index: number) => {
    if (rowAt(index) === undefined) {
      pages.current.pending.delete(Math.floor(index / PAGE));
      await fetchPage(Math.floor(index / PAGE));
    }
    return rowAt(index);
  };
  const ready = state.key === key;
  return {
    total: ready ? state.total : 0,
    rowAt,
    ensure,
    load,
    search: ready ? state.search : null,
    error: ready ? state.error : undefined,
    ready,
  };
}
