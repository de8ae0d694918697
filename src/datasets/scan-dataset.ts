import { errorMessage } from "../errors.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import { applyPromptConfig, hasPopulatedInput, type PromptConfig } from "../rollouts/inputs/prompt-config.ts";
import type { DatasetEntry } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { type Line, readLineBatches } from "./lines.ts";
import { PositionRanges } from "./position-ranges.ts";
import { hasFillableParams, readForCollation } from "./prepare-dataset.ts";
import { type RowProblem, type RowVerdict, validateLine, validateRow } from "./row-validation.ts";
import { DatasetStatistics, type StatisticsSummary } from "./statistics/statistics.ts";

/** Bad rows described in full; the others are counted and listed by position. */
const MAX_REPORTED = 20;

export interface RowReport {
  /** 1-based line of the file. */
  line: number;
  problems: RowProblem[];
}

export interface DatasetScan {
  statistics: DatasetStatistics;
  /** Lines of the file that belong to the dataset. */
  rows: number;
  /** Positions in the repeated stream of the rows left out of the statistics, as upstream counts them. */
  offending: PositionRanges;
  /** 1-based lines of rows that no agent could run. For prompted benchmarks that is decided on the rendered row. */
  bad: PositionRanges;
  /** The first bad rows in detail. */
  reports: RowReport[];
  /** 1-based lines that cannot be collated: no JSON object, or one that does not go with the prompt config. */
  unusable: PositionRanges;
  /** The problem of the first of them. */
  firstUnusable?: unknown;
  /** 1-based line of the first row field that has a reserved name. */
  reservedLine?: number;
}

export interface ScanOptions {
  /** The templates applied to the rows before they are run. */
  prompt?: PromptConfig;
  /** Sees the normalized create params of every valid row. */
  onValidRow?: (params: JsonObject) => void;
  signal?: AbortSignal;
  onProgress?: (bytes: number, rows: number) => void;
}

/** Reads a dataset once, checks every row and computes its statistics; memory does not grow with the file. */
export async function scanDataset(
  file: string,
  entry: Pick<DatasetEntry, "lines" | "repeats">,
  options: ScanOptions = {},
): Promise<DatasetScan> {
  const scan: DatasetScan = {
    statistics: new DatasetStatistics(),
    rows: 0,
    offending: new PositionRanges(),
    bad: new PositionRanges(),
    reports: [],
    unusable: new PositionRanges(),
  };
  let index = 0;
  for await (const { lines, bytes } of readLineBatches(file, { signal: options.signal })) {
    for (const line of lines) {
      const lineNumber = ++index;
      if (lineNumber <= entry.lines.start || lineNumber > entry.lines.end) continue;
      const verdict = validateLine(line);
      if (verdict.valid) {
        observe(scan, verdict, { file, lineNumber, repeats: entry.repeats });
        options.onValidRow?.(verdict.params);
      } else scan.offending.add(scan.rows * entry.repeats, entry.repeats);
      const judged = options.prompt === undefined ? verdict : judgeRendered(verdict, options.prompt);
      if (!judged.valid) {
        report(scan, lineNumber, judged.problems);
        noteUnusable(scan, line, options.prompt, { file, lineNumber });
      }
      scan.rows++;
    }
    options.onProgress?.(bytes, scan.rows);
  }
  return scan;
}

/** The statistics of a dataset that was read; a failure begins with file and line. */
export function summarizeScan({ statistics, reservedLine }: DatasetScan, file: string): StatisticsSummary {
  try {
    return statistics.summary();
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const where = reservedLine === undefined ? file : `${file}:${reservedLine}`;
    throw new DatasetError(error.code, `${where}: ${error.message}`, { cause: error });
  }
}

function observe(
  scan: DatasetScan,
  { row, params }: { row: Record<string, unknown>; params: Record<string, unknown> },
  { file, lineNumber, repeats }: { file: string; lineNumber: number; repeats: number },
): void {
  try {
    scan.statistics.observe(row, params, repeats);
    if (scan.reservedLine === undefined && scan.statistics.hasReservedField) scan.reservedLine = lineNumber;
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    throw new DatasetError(error.code, `${file}:${lineNumber}: ${error.message}`, { cause: error });
  }
}

function judgeRendered(verdict: RowVerdict, prompt: PromptConfig): RowVerdict {
  const { row } = verdict;
  if (row === undefined) return verdict;
  if (hasPopulatedInput(row)) {
    const problem = {
      path: "responses_create_params.input",
      message: "is given, but a prompt config fills it too",
    };
    return { valid: false, row, problems: [problem] };
  }
  if (!hasFillableParams(row)) return validateRow(row);
  try {
    return validateRow(applyPromptConfig(prompt, row));
  } catch (error) {
    return { valid: false, row, problems: [{ path: "", message: errorMessage(error) }] };
  }
}

/** A row may be invalid and still be collated; this asks the code that collates. */
function noteUnusable(
  scan: DatasetScan,
  line: Line,
  prompt: PromptConfig | undefined,
  { file, lineNumber }: { file: string; lineNumber: number },
): void {
  try {
    readForCollation(line, prompt, `${file}:${lineNumber}`);
  } catch (error) {
    scan.unusable.add(lineNumber, 1);
    scan.firstUnusable ??= error;
  }
}

function report(scan: DatasetScan, line: number, problems: RowProblem[]): void {
  scan.bad.add(line, 1);
  if (scan.reports.length < MAX_REPORTED) scan.reports.push({ line, problems });
}
