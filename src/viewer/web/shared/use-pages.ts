import { useCallback, useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import type { SearchProgress } from "../../api-types.ts";

const SEARCH_POLL_MS = 200;

interface Page<Item> {
  total: number;
  items: Item[];
  search: SearchProgress | null;
}

interface Pages<Item, Answer> {
  /** Undefined until its page is loaded. */
  itemAt: (index: number) => Item | undefined;
  /** Loads these items if they are missing. */
  ensure: (from: number, to: number) => void;
  load: (index: number) => Promise<Item | undefined>;
  /** The last answer; undefined until the first page of the current key is loaded. */
  answer: Answer | undefined;
  error: string | undefined;
}

/**
 * A list that is loaded page by page on scrolling and grows with its file. `key` names the list. `version` changes
 * when its items may have changed; without one nothing is loaded.
 */
export function usePages<Answer extends Page<unknown>>(
  key: string,
  version: string | undefined,
  size: number,
  fetchPage: (offset: number, limit: number) => Promise<Answer>,
): Pages<Answer["items"][number], Answer> {
  const empty = () => ({
    key,
    loaded: new Map<number, Answer["items"]>(),
    pending: new Map<number, string>(),
  });
  const pages = useRef(empty());
  const inSight = useRef([0, 0] as [from: number, to: number]);
  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  const [state, setState] = useState<{ key: string; answer?: Answer; error?: string }>({ key: "" });
  if (pages.current.key !== key) {
    pages.current = empty();
    inSight.current = [0, 0];
  }

  const loadPage = useCallback(
    async (page: number): Promise<void> => {
      const own = pages.current;
      const tag = `${version}`;
      if (own.pending.get(page) === tag) return;
      own.pending.set(page, tag);
      try {
        const answer = await latest.current(page * size, size);
        if (pages.current !== own) return;
        own.loaded.set(page, answer.items);
        setState({ key, answer });
      } catch (error) {
        own.pending.delete(page);
        if (pages.current === own) setState({ key, error: errorMessage(error) });
      }
    },
    [key, version, size],
  );

  const loadInSight = useCallback(() => {
    const [from, to] = inSight.current;
    const { loaded } = pages.current;
    for (const page of loaded.keys()) if (page < from || page > to) loaded.delete(page);
    for (let page = from; page <= to; page++) void loadPage(page);
  }, [loadPage]);

  // Visible items are requested again when the file has grown; the others when they become visible.
  useEffect(() => {
    if (version !== undefined) loadInSight();
  }, [loadInSight, version]);

  // Polls while a search continues in the server.
  useEffect(() => {
    if (state.key !== key || !state.answer?.search || state.answer.search.done) return;
    const timer = window.setTimeout(() => {
      pages.current.pending.clear();
      loadInSight();
    }, SEARCH_POLL_MS);
    return () => window.clearTimeout(timer);
  }, [state, key, loadInSight]);

  const itemAt = (index: number) => pages.current.loaded.get(Math.floor(index / size))?.[index % size];
  const ensure = (from: number, to: number) => {
    inSight.current = [Math.floor(from / size), Math.floor(to / size)];
    for (let [page, last] = inSight.current; page <= last; page++)
      if (!pages.current.loaded.has(page)) void loadPage(page);
  };
  const load = async (index: number) => {
    if (itemAt(index) === undefined) {
      pages.current.pending.delete(Math.floor(index / size));
      await loadPage(Math.floor(index / size));
    }
    return itemAt(index);
  };
  const { answer, error } = state.key === key ? state : { answer: undefined, error: undefined };
  return { itemAt, ensure, load, answer, error };
}
