import type { ListedRow, Overview, RowRef, RunEntry, ViewerStatus } from "../api-types.ts";

/** What a page without a server shows: all about a run, and where its rows are. */
export interface EmbeddedRun {
  run: RunEntry;
  status: ViewerStatus;
  overview: Overview;
  rows: ListedRow[];
  /** Rows in the page itself, as `/api/row` answers them; in a folder they lie in files. */
  texts: Record<string, string> | null;
  title: string;
}

/** The name of a row among the texts, and of its file in a folder. */
export function textName({ source, line }: RowRef): string {
  return `${source}-${line}`;
}
