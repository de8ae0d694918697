import type { ListedRow, Overview, RowRef, ViewerStatus } from "../api-types.ts";

/** The data of a page without a server: some rows of a run, and their figures. */
export interface EmbeddedRun {
  status: ViewerStatus;
  overview: Overview;
  rows: ListedRow[];
  /** Set if `rows` are only some rows of the run. */
  chosen: { rows: number; of: number } | null;
  /** Rows in the page, as answered by `/api/row`; in a static folder they are separate files. */
  texts: Record<string, string> | null;
  title: string;
}

/** The key of a row among the texts, and its file name in a folder. */
export function textName({ source, line }: RowRef): string {
  return `${source}-${line}`;
}
