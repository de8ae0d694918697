import type { ListedRow, SearchProgress } from "../../api-types.ts";
import { api, type RunId } from "./api-client.ts";
import { usePages } from "./use-pages.ts";

const PAGE = 100;
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

/** The rows that match a request. */
export function useRows(
  run: RunId,
  request: ListRequest,
  version: string | undefined,
  generation: number,
): RowList {
  const key = JSON.stringify([run, request, generation]);
  const { itemAt, ensure, load, answer, error } = usePages(key, version, PAGE, async (offset, limit) => {
    const { rows: items, total, search } = await api.rollouts(run, { ...request, offset, limit });
    return { items, total, search };
  });
  return {
    total: answer?.total ?? 0,
    rowAt: itemAt,
    ensure,
    load,
    search: answer?.search ?? null,
    error,
    ready: answer !== undefined || error !== undefined,
  };
}
