import type { ListedRow, Overview, RowRef, RunEntry, ViewerStatus } from "../api-types.ts";

/** The data of a page without a server: the run, and the location of its rows. */
export interface EmbeddedRun {
  run: RunEntry;
  status: ViewerStatus;
  overview: Overview;
  rows: ListedRow[];
  /** Set if `rows` are only some rows of the run. The run, its status and overview always cover all rows. */
  chosen: { rows: number; of: number } | null;
  /** Rows in the page, as answered by `/api/row`; in a static folder they are separate files. */
  texts: Record<string, string> | null;
  title: string;
}

/** The key of a row among the texts, and its file name in a folder. */
export function textName({ source, line }: RowRef): string {
  return `${source}-${line}`;
}
