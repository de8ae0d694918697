import { errorMessage } from "../../base/errors.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { DatasetError } from "../errors.ts";
import { applyPromptConfig, type PromptConfig } from "../prompt-config.ts";
import { MAPPABLE, Misfit } from "./fields.ts";
import { containerOf, type Format, type RowFormat } from "./format-names.ts";
import { convertRow, detectFormat, type FieldMap, fieldList, type Notice } from "./formats.ts";
import { type LmEvalOptions, readLmEvalTask, taskRows } from "./lm-eval/rows.ts";
import { type ConvertAccess, readSourceRows, type SourceRow, sourceFile } from "./read-source.ts";

/** Rows that decide about the format. */
const DETECTED_ROWS = 20;
/** Problems that a report names one by one. */
const MAX_PROBLEMS = 1_000;

export interface ConvertOptions extends LmEvalOptions {
  /** A file, `hub:owner/name@split`, or a task file of lm-eval. */
  readonly input: string;
  /** Default: detected from the first rows. */
  readonly format?: Format;
  /** Fields of the source by what they mean, where their names do not tell. */
  readonly map?: FieldMap;
  /** Makes the input of each row from its fields. */
  readonly promptConfig?: PromptConfig;
  /** Leaves the input empty, for a prompt config that is applied later. */
  readonly withoutInput?: boolean;
  /** Convert at most this many rows. */
  readonly limit?: number;
  readonly access: ConvertAccess;
}

/** One row of the result and its place in the source. */
export interface ConvertedRow {
  readonly where: string;
  readonly row: JsonObject;
}

export interface ConversionProblem {
  readonly where: string;
  readonly reason: string;
}

/** What became of the rows of a source. It grows while the rows are read. */
export interface ConvertReport {
  readonly format: Format;
  read: number;
  converted: number;
  /** The first rows that did not fit. */
  readonly problems: ConversionProblem[];
  /** Number of rows that did not fit. */
  rejected: number;
  readonly notices: string[];
}

/** Finds the format of a source. The rows are read when `rows` is iterated. */
export async function openConversion(
  options: ConvertOptions,
): Promise<{ report: ConvertReport; rows: AsyncGenerator<ConvertedRow> }> {
  const { input, access } = options;
  if (options.format === "lm_eval" || (options.format === undefined && containerOf(input) === "yaml"))
    return openTask(options);
  const source = readSourceRows(input, access);
  const first = await takeFirst(source);
  const format = options.format ?? formatOf(first, options);
  const report = emptyReport(format);
  const counts = new Map<Notice, number>();
  const rows = converted(joined(first, source), report, options, (row) =>
    convertRow(row, format, {
      map: options.map,
      withoutInput: options.withoutInput ?? options.promptConfig !== undefined,
      notice: (notice) => counts.set(notice, (counts.get(notice) ?? 0) + 1),
    }),
  );
  return { report, rows: withNotices(rows, report, counts) };
}

async function openTask(options: ConvertOptions) {
  const file = await sourceFile(options.input, options.access);
  const task = await readLmEvalTask(file, options);
  const report = emptyReport("lm_eval");
  if (task.ignored.length > 0)
    report.notices.push(
      `Python code that changes scores is not run (${task.ignored.join("; ")}): the prompts are those of the task, the scores may not be.`,
    );
  return { report, rows: converted(taskRows(task, options.access), report, options, (row) => row) };
}

function emptyReport(format: Format): ConvertReport {
  return { format, read: 0, converted: 0, problems: [], rejected: 0, notices: [] };
}

async function* converted(
  source: AsyncIterable<SourceRow>,
  report: ConvertReport,
  { limit = Number.POSITIVE_INFINITY, promptConfig, access }: ConvertOptions,
  convert: (row: JsonObject) => JsonObject,
): AsyncGenerator<ConvertedRow> {
  const reject = (where: string, reason: string) => {
    report.rejected++;
    if (report.problems.length < MAX_PROBLEMS) report.problems.push({ where, reason });
  };
  for await (const entry of source) {
    access.signal.throwIfAborted();
    if (report.converted >= limit) return;
    report.read++;
    const { where } = entry;
    if ("problem" in entry) {
      reject(where, entry.problem);
      continue;
    }
    let row: JsonObject;
    try {
      row = convert(entry.row);
      if (promptConfig !== undefined) row = applyPromptConfig(promptConfig, row);
    } catch (error) {
      if (!(error instanceof Misfit) && promptConfig === undefined) throw error;
      reject(where, errorMessage(error).replace(/\.$/, ""));
      continue;
    }
    report.converted++;
    yield { where, row };
  }
}

const NOTICES: Readonly<Record<Notice, string>> = {
  several_answers: "have several right answers: expected_answer is the first, expected_answers has all",
  no_answer: "have no answer, so only verifiers that need none can score them",
  ends_with_call: "end with tool calls, which are in expected_message; they have no expected_answer",
};

async function* withNotices(
  rows: AsyncGenerator<ConvertedRow>,
  report: ConvertReport,
  counts: ReadonlyMap<Notice, number>,
): AsyncGenerator<ConvertedRow> {
  yield* rows;
  for (const [notice, count] of counts)
    report.notices.push(`${count === 1 ? "1 row" : `${count} rows`}: ${NOTICES[notice]}.`);
}

async function takeFirst(source: AsyncGenerator<SourceRow>): Promise<SourceRow[]> {
  const first: SourceRow[] = [];
  while (first.length < DETECTED_ROWS) {
    const next = await source.next();
    if (next.done) break;
    first.push(next.value);
  }
  return first;
}

async function* joined(
  first: readonly SourceRow[],
  rest: AsyncIterable<SourceRow>,
): AsyncGenerator<SourceRow> {
  yield* first;
  yield* rest;
}

/** The format of most of the first rows. */
function formatOf(first: readonly SourceRow[], { input, map }: ConvertOptions): RowFormat {
  const rows = first.flatMap((entry) => ("row" in entry ? [entry.row] : []));
  const [sample] = rows;
  if (sample === undefined) {
    const problem = first.find((entry) => "problem" in entry);
    const why =
      problem === undefined ? "it is empty" : `${problem.where}: ${(problem as { problem: string }).problem}`;
    throw new DatasetError("DATASET_ROW_INVALID", `'${input}' has no rows to convert: ${why}.`);
  }
  const counts = new Map<RowFormat, number>();
  for (const row of rows) {
    const format = detect(row, map, input);
    if (format !== undefined) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1]);
  if (best !== undefined) return best[0];
  throw new DatasetError(
    "DATASET_FORMAT_UNKNOWN",
    `'${input}' is in no known format. Its first row has: ${fieldList(sample)}. ` +
      `Say what its fields mean with --map NAME=FIELD (${MAPPABLE.join(", ")}), such as --map question=${Object.keys(sample)[0] ?? "FIELD"}, or name the format with --format.`,
  );
}

function detect(row: JsonObject, map: FieldMap | undefined, input: string): RowFormat | undefined {
  try {
    return detectFormat(row, map);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new DatasetError("DATASET_ARGUMENTS_INVALID", `'${input}': ${error.message} (--map).`);
  }
}
