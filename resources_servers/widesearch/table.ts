import { floatRepr, pyStr, strip } from "nemo-gym/python";
import { csvRecords, FormatError } from "nemo-gym/verify";
import type { Table } from "./score.ts";

/** What pandas reads as a missing cell. */
const MISSING = new Set(
  " #N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null"
    .trim()
    .split("|"),
).add("");
const NOT_A_NUMBER = "nan";

/** The table of an answer: that of the last Markdown fence with lines, else the last lines between bars. */
export function readTable(text: string): Table | undefined {
  const fenced = [...text.matchAll(/```markdown(.*?)```/gs)].map(([, content]) =>
    usable((content ?? "").split("\n")),
  );
  const lines = fenced.findLast((each) => each.length > 0) ?? usable(lastBarred(text.split("\n")));
  if (lines.length === 0) return undefined;
  const cells = lines.map((line) =>
    line
      .split("|")
      .map((part) => strip(part))
      .join("|"),
  );
  try {
    return tableOf(csvRecords(cells.join("\n"), "|").filter((record) => record.some((cell) => cell !== "")));
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function usable(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes("|") && !/^[|\-\s:]*$/.test(line)).map((part) => strip(part));
}

function lastBarred(lines: readonly string[]): string[] {
  const isBarred = (line: string) => strip(line).startsWith("|") && strip(line).endsWith("|");
  const last = lines.findLastIndex(isBarred);
  let first = last;
  while (first > 0 && isBarred(lines[first - 1] ?? "")) first--;
  return last < 0 ? [] : lines.slice(first, last + 1);
}

/** As pandas reads records: further cells of the first row are an index, which shifts all rows. */
function tableOf([header = [], ...records]: readonly string[][]): Table | undefined {
  const shift = Math.max(0, (records[0]?.length ?? 0) - header.length);
  if (records.some((record) => record.length > header.length + shift)) return undefined;
  const kept = header.flatMap((name, index) => (name === "" ? [] : index));
  return {
    columns: kept.map((index) => columnName(header[index] ?? "")),
    rows: records.map((record) =>
      kept.map((index) => {
        const cell = record[index + shift] ?? "";
        return MISSING.has(cell) ? NOT_A_NUMBER : cell;
      }),
    ),
  };
}

/** The right table. Its values become texts as in a table of pandas, in which a column has one type. */
export function goldTable(rows: readonly Record<string, unknown>[]): Table {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const texts = names.map((name) => columnTexts(rows.map((row) => row[name])));
  return {
    columns: names.map(columnName),
    rows: rows.map((_, index) => texts.map((column) => column[index] ?? NOT_A_NUMBER)),
  };
}

function columnTexts(values: readonly unknown[]): string[] {
  const numeric = values.every((value) => value == null || typeof value === "number");
  const isFloat =
    numeric && !values.every((value) => Number.isInteger(value)) && values.some((value) => value != null);
  if (isFloat) return values.map((value) => (value == null ? NOT_A_NUMBER : floatRepr(value as number)));
  return values.map((value) => (value == null ? NOT_A_NUMBER : pyStr(value)));
}

function columnName(name: string): string {
  return strip(name).toLowerCase().replaceAll(" ", "");
}

export function sameColumns(
  columns: readonly string[],
  required: readonly string[],
  { mayHaveMore = false }: { mayHaveMore?: boolean } = {},
): boolean {
  const hasAll = required.every((name) => columns.includes(name));
  return (
    hasAll &&
    (mayHaveMore || (columns.length === required.length && new Set(columns).size === columns.length))
  );
}
