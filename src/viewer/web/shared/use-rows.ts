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

export type RowList = ReturnType<typeof useRows>;

/** The rows that match a request. */
export function useRows(run: RunId, request: ListRequest, version: string | undefined, generation: number) {
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
    /** False until the first page of the current request is loaded. */
    ready: answer !== undefined || error !== undefined,
  };
}
