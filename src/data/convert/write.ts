import { rm } from "node:fs/promises";
import { dumps } from "../../base/python/json/door.ts";
import { DatasetError } from "../errors.ts";
import { writeOutput } from "../output-file.ts";
import { type ConvertOptions, type ConvertReport, openConversion } from "./convert.ts";

/** Rows between two lines of progress. */
const PROGRESS_ROWS = 100_000;
/** Problems that an error shows. */
const SHOWN_PROBLEMS = 5;

export interface WriteOptions extends ConvertOptions {
  readonly output: string;
  /** Writes nothing if a row does not fit. */
  readonly strict: boolean;
  /** Called with each row that is written, in order. */
  readonly onRow?: (where: string) => void;
}

/** Writes the rows of a source as a dataset. The file appears when it is complete. */
export async function convertDataset(options: WriteOptions): Promise<ConvertReport> {
  const { output: target, strict, access, onRow } = options;
  const { report, rows } = await openConversion(options);
  await writeOutput(target, { atomic: true }, async (output) => {
    for await (const { where, row } of rows) {
      await output.write(`${dumps(row)}\n`);
      onRow?.(where);
      if (report.converted % PROGRESS_ROWS === 0) access.log(`${report.converted.toLocaleString("en")} rows`);
    }
    if (report.rejected > 0 && (strict || report.converted === 0)) throw misfits(options.input, report);
    if (report.converted === 0)
      throw new DatasetError("DATASET_ROW_INVALID", `'${options.input}' has no rows to convert.`);
  });
  // Downloads stay after a failure only, so that the next try continues them.
  await rm(access.directory, { recursive: true, force: true });
  return report;
}

function misfits(input: string, { rejected, read, problems, format }: ConvertReport): DatasetError {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ where, reason }) => `  ${where}: ${reason}`);
  const more = rejected > shown.length ? [`  … and ${rejected - shown.length} more`] : [];
  return new DatasetError(
    "DATASET_MISFITS",
    [`${rejected} of ${read} rows of '${input}' do not fit (${format}):`, ...shown, ...more].join("\n"),
  );
}
