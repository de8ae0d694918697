import type { ListedRow, ViewerStatus } from "../api-types.ts";
import { parseQuery } from "../query/query.ts";
import type { RowRequest } from "../query/request.ts";
import type { ViewedRun } from "../run/viewed-run.ts";
import type { EmbeddedRun } from "./embedded.ts";

/** A request for all rows. */
export function everything(): RowRequest {
  return {
    q: "",
    terms: parseQuery(""),
    sort: "file",
    order: "asc",
    pass: 1,
    set: "all",
    by: "task",
    against: undefined,
    offset: 0,
    limit: 100,
    locate: undefined,
  };
}

/** The data of a page without a server for some rows of a run. Its figures are those of these rows. */
export async function embeddedRun(
  run: ViewedRun,
  codes: Int32Array,
  options: Pick<EmbeddedRun, "texts" | "title">,
): Promise<EmbeddedRun> {
  const { isLost } = await run.lost();
  const rows: ListedRow[] = [];
  for (const code of codes) rows.push(await run.rows.listed(code, isLost));
  const of = run.rollouts.columns.length + run.failures.columns.length;
  const isAll = codes.length === of;
  const status = { ...(await run.status()), can_annotate: false };
  return {
    status: isAll ? status : statusOf(rows, status),
    overview: isAll ? await run.overview(everything()) : await run.overviewOf(codes),
    rows,
    chosen: isAll ? null : { rows: codes.length, of },
    ...options,
  };
}

/** The status of a run, with the counts and names of some of its rows. */
function statusOf(rows: readonly ListedRow[], status: ViewerStatus): ViewerStatus {
  const countsOf = (source: ListedRow["source"]) => {
    const own = rows.filter((row) => row.source === source);
    return { rows: own.length, bad_lines: own.filter(({ readable }) => !readable).length };
  };
  const names = (all: readonly (string | null)[]) => [...new Set(all.filter((name) => name !== null))].sort();
  return {
    ...status,
    rollouts: { ...status.rollouts, ...countsOf("rollouts") },
    failures: { ...status.failures, ...countsOf("failures") },
    agents: names(rows.map(({ agent }) => agent)),
    models: names(rows.map(({ model }) => model)),
    tools: names(rows.flatMap(({ tools }) => tools)),
    failure_classes: names(rows.map(({ failure }) => failure)),
    labels: names(rows.flatMap(({ annotation }) => annotation?.labels ?? [])),
    unreadable: rows.filter(({ readable }) => !readable).length,
  };
}
