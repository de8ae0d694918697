import { printableName } from "../../base/door.ts";
import type { DatasetScan } from "../../data/door.ts";
import type { ExtendedSummary, NumericSummary, StatisticsSummary } from "../../data/light-door.ts";
import { renderTable } from "../render/table.ts";
import type { Terminal } from "../render/terminal.ts";

const COLUMNS = ["Values", "Average", "Min", "Max", "Std. dev."];

/** The statistics of a dataset as tables: numbers first, then texts. */
export function formatStatistics(title: string, summary: StatisticsSummary, terminal: Terminal): string {
  const numeric: [string, NumericSummary][] = [
    ["Number of tools", summary.tools],
    ["Words of the JSON text", summary.words],
    ["Number of turns", summary.turns],
    ["Temperature", summary.temperature],
  ];
  const texts: string[][] = [];
  for (const [given, field] of summary.fields) {
    const name = printableName(given);
    if (field.kind === "number") numeric.push([name, field.value]);
    else texts.push([name, String(field.value.totalCount), String(field.value.uniqueCount)]);
  }
  const rows = numeric.map(([name, value]) => numericRow(name, value));
  const tables = [renderTable({ title, columns: ["Statistic", ...COLUMNS], rows }, terminal)];
  if (texts.length > 0)
    tables.push(renderTable({ columns: ["Text field", "Values", "Distinct"], rows: texts }, terminal));
  return tables.join("\n");
}

function numericRow(name: string, value: NumericSummary): string[] {
  return [name, value.total, value.average, value.min, value.max, value.standardDeviation].map(String);
}

/** Statistics that are not in the metrics file: sampling parameters, length in tokens, distinct params and messages. */
export function formatExtended(summary: ExtendedSummary, terminal: Terminal): string {
  const rows = Object.entries(summary.samplingParameters).map(([name, value]) => numericRow(name, value));
  if (summary.tokens !== undefined) rows.push(numericRow("input tokens", summary.tokens));
  const columns = ["Sampling and length", ...COLUMNS];
  return [
    ...(rows.length > 0 ? [renderTable({ columns, rows }, terminal)] : []),
    `Distinct create params: ${summary.uniqueCreateParams}`,
    `Distinct user messages: ${summary.uniqueUserMessages}`,
  ].join("\n");
}

/** The invalid rows of a dataset, one line per problem with file, line and position; empty when all are valid. */
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

/** The same as JSON. */
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
