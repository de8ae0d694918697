import { errorMessage } from "../base/errors.ts";
import { PositionRanges } from "../base/files/door.ts";
import type { JsonObject } from "../base/python/json/door.ts";
import type { DatasetEntry } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { type Line, readTextBatches } from "./lines.ts";
import { hasFillableParams, readForCollation } from "./prepare-dataset.ts";
import { applyPromptConfig, hasPopulatedInput, type PromptConfig } from "./prompt-config.ts";
import { type RowProblem, type RowVerdict, validateLine, validateRow } from "./row-validation.ts";
import { DatasetStatistics, type StatisticsSummary } from "./statistics/statistics.ts";

/** Number of invalid rows with a full description. The others are counted and listed by line. */
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
  /** Positions of rows that are not in the statistics. Repeated rows count, as upstream. */
  offending: PositionRanges;
  /** 1-based lines of rows that no agent can run. For a benchmark with a prompt the rendered row counts. */
  bad: PositionRanges;
  /** The first invalid rows in detail. */
  reports: RowReport[];
  /** 1-based lines that cannot be collated: not a JSON object, or not compatible with the prompt config. */
  unusable: PositionRanges;
  /** The error of the first unusable line. */
  firstUnusable?: unknown;
  /** 1-based line of the first row with a field that has a reserved name. */
  reservedLine?: number;
}

export interface ScanOptions {
  /** The prompt config that is applied to the rows. */
  prompt?: PromptConfig;
  /** Called with the normalized create params of every valid row. */
  onValidRow?: (params: JsonObject) => void;
  signal?: AbortSignal;
  onProgress?: (bytes: number, rows: number) => void;
}

/** Checks every row of a dataset and computes its statistics, with constant memory. */
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
  for await (const { lines, bytes } of readTextBatches(file, options.signal)) {
    for (const line of lines) {
      const lineNumber = ++index;
      if (lineNumber <= entry.lines.start || lineNumber > entry.lines.end) continue;
      const verdict = validateLine(line);
      if (verdict.valid) {
        const { row, params } = verdict;
        located(`${file}:${lineNumber}`, () => scan.statistics.observe(row, params, entry.repeats));
        if (scan.statistics.hasReservedField) scan.reservedLine ??= lineNumber;
        options.onValidRow?.(params);
      } else scan.offending.add(scan.rows * entry.repeats, entry.repeats);
      const judged = options.prompt === undefined ? verdict : judgeRendered(verdict, options.prompt);
      if (!judged.valid) {
        scan.bad.add(lineNumber, 1);
        if (scan.reports.length < MAX_REPORTED)
          scan.reports.push({ line: lineNumber, problems: judged.problems });
        noteUnusable(scan, line, options.prompt, { file, lineNumber });
      }
      scan.rows++;
    }
    options.onProgress?.(bytes, scan.rows);
  }
  return scan;
}

/** The summary of the statistics. Errors start with the file and line. */
export function summarizeScan({ statistics, reservedLine }: DatasetScan, file: string): StatisticsSummary {
  const where = reservedLine === undefined ? file : `${file}:${reservedLine}`;
  return located(where, () => statistics.summary());
}

/** Puts `where` in front of the message of a DatasetError. */
function located<T>(where: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    throw new DatasetError(error.code, `${where}: ${error.message}`, { cause: error });
  }
}

function judgeRendered(verdict: RowVerdict, prompt: PromptConfig): RowVerdict {
  const { row } = verdict;
  if (row === undefined) return verdict;
  if (hasPopulatedInput(row)) {
    const problem = {
      path: "responses_create_params.input",
      message: "is set, but a prompt config also fills it",
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

/** An invalid row may still be collated, so the code of the collation decides. */
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
