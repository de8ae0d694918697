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

/** The data of a page without a server for some rows of a run. */
export async function embeddedRun(
  run: ViewedRun,
  codes: Int32Array,
  options: Pick<EmbeddedRun, "texts" | "title">,
): Promise<EmbeddedRun> {
  const rows: EmbeddedRun["rows"] = [];
  for (const code of codes) rows.push(await run.rows.listed(code));
  const of = run.rollouts.columns.length + run.failures.columns.length;
  return {
    run: await run.entry(),
    status: { ...(await run.status()), can_annotate: false },
    overview: await run.overview(everything()),
    rows,
    chosen: codes.length < of ? { rows: codes.length, of } : null,
    ...options,
  };
}
