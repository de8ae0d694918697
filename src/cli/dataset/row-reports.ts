import type { DatasetScan } from "../../datasets/scan-dataset.ts";
import { printableName } from "../../printable.ts";
import type { Terminal } from "../render/terminal.ts";

/** The invalid rows of a dataset, one line per problem with file, line and place; empty when all are valid. */
export function formatRowReports(file: string, scan: DatasetScan, terminal: Terminal): string[] {
  if (scan.bad.count === 0) return [];
  const heading = `${scan.bad.count} of ${scan.rows} rows of ${file} are invalid (lines ${scan.bad.text()}):`;
  const details = scan.reports.flatMap(({ line, problems }) =>
    problems.map(
      ({ path, message }) =>
        `  ${file}:${line}: ${printableName(path === "" ? message : `${path}: ${message}`)}`,
    ),
  );
  const hidden = scan.bad.count - scan.reports.length;
  return [terminal.yellow(heading), ...details, ...(hidden > 0 ? [`  … and ${hidden} more rows`] : [])];
}

/** The same for programs. */
export function rowReportsJson(scan: DatasetScan) {
  return {
    rows: scan.rows,
    invalid_rows: scan.bad.count,
    invalid_lines: scan.bad.text(1000),
    problems: scan.reports.flatMap(({ line, problems }) =>
      problems.map(({ path, message }) => ({ line, path, message })),
    ),
  };
}
