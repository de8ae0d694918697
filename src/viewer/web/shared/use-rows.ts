import { useCallback, useEffect, useRef, useState } from "react";
import type { ListedRow, RowsPage, SearchProgress } from "../../api-types.ts";
import { api, type RunId } from "./api-client.ts";

const PAGE = 100;
const SEARCH_POLL_MS = 200;
/** Firefox lays out at most about seventeen million pixels; filters give access to further rows. */
export const MAX_LISTED = 250_000;

/** The parameters of the list. */
export interface ListRequest {
  q: string | undefined;
  sort: string | undefined;
  order: string | undefined;
  pass: string | undefined;
}

export interface RowList {
  total: number;
  /** Undefined until its page is loaded. */
  rowAt: (index: number) => ListedRow | undefined;
  /** Loads these rows if they are missing. */
  ensure: (from: number, to: number) => void;
  load: (index: number) => Promise<ListedRow | undefined>;
  search: SearchProgress | null;
  error: string | undefined;
  /** False until the first page of the current request is loaded. */
  ready: boolean;
}

/** The list for a request, loaded page by page on scrolling; grows with the file. */
export function useRows(
  run: RunId,
  request: ListRequest,
  version: string | undefined,
  generation: number,
): RowList {
  const asked = JSON.stringify(request);
  const key = JSON.stringify([run, asked, generation]);
  const pages = useRef({ key, loaded: new Map<number, ListedRow[]>(), pending: new Map<number, string>() });
  const inSight = useRef([0, 0] as [from: number, to: number]);
  const [state, setState] = useState({
    key: "",
    total: 0,
    search: null as SearchProgress | null,
    error: undefined as string | undefined,
    drawn: 0,
  });
  if (pages.current.key !== key) {
    pages.current = { key, loaded: new Map(), pending: new Map() };
    inSight.current = [0, 0];
  }

  const fetchPage = useCallback(
    async (page: number): Promise<RowsPage | undefined> => {
      const own = pages.current;
      const tag = `${version}`;
      if (own.pending.get(page) === tag) return undefined;
      own.pending.set(page, tag);
      try {
        const answer = await api.rollouts(run, {
          ...(JSON.parse(asked) as Partial<ListRequest>),
          offset: page * PAGE,
          limit: PAGE,
        });
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
        setState((before) => ({ ...before, key, total: 0, search: null, error: message }));
        return undefined;
      }
    },
    [key, run, version, asked],
  );

  const fetchInSight = useCallback(() => {
    const [from, to] = inSight.current;
    const { loaded } = pages.current;
    for (const page of loaded.keys()) if (page < from || page > to) loaded.delete(page);
    for (let page = from; page <= to; page++) void fetchPage(page);
  }, [fetchPage]);

  // Visible rows are requested again when the file has grown; the others when they become visible.
  useEffect(() => {
    if (version !== undefined) fetchInSight();
  }, [fetchInSight, version]);

  // Polls while a search continues in the server.
  useEffect(() => {
    if (state.key !== key || state.search === null || state.search.done) return;
    const timer = window.setTimeout(() => {
      pages.current.pending.clear();
      fetchInSight();
    }, SEARCH_POLL_MS);
    return () => window.clearTimeout(timer);
  }, [state, key, fetchInSight]);

  const rowAt = (index: number) => pages.current.loaded.get(Math.floor(index / PAGE))?.[index % PAGE];
  const ensure = (from: number, to: number) => {
    inSight.current = [Math.floor(from / PAGE), Math.floor(to / PAGE)];
    for (let [page, last] = inSight.current; page <= last; page++)
      if (!pages.current.loaded.has(page)) void fetchPage(page);
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
