import { GymError } from "nemo-gym";
import { type Cells, Table } from "./table.ts";

/** A database file that cannot be read. */
export class CsvError extends GymError {
  constructor(message: string) {
    super("WORKPLACE_CSV", message);
  }
}

/** Cells that pandas reads as missing. */
const MISSING = new Set([
  ...["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"],
  ...["N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"],
]);

/** Splits CSV text into records. Quoted cells may contain commas, line breaks and doubled quotes. Blank lines are skipped. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let position = text.startsWith("\ufeff") ? 1 : 0;
  while (position < text.length) {
    const [cell, end] = text[position] === '"' ? quotedCell(text, position) : plainCell(text, position);
    record.push(cell);
    position = end;
    if (text[position] === ",") {
      position++;
      // A comma at the very end is followed by an empty cell.
      if (position === text.length || text[position] === "\n" || text[position] === "\r") record.push("");
      else continue;
    }
    if (text[position] === "\r") position++;
    if (text[position] === "\n") position++;
    if (record.length > 1 || record[0] !== "") records.push(record);
    record = [];
  }
  return records;
}

function plainCell(text: string, start: number): [string, number] {
  let end = start;
  while (end < text.length && text[end] !== "," && text[end] !== "\n" && text[end] !== "\r") end++;
  return [text.slice(start, end), end];
}

function quotedCell(text: string, start: number): [string, number] {
  let cell = "";
  let position = start + 1;
  for (;;) {
    const quote = text.indexOf('"', position);
    if (quote === -1) throw new CsvError("a quoted cell is never closed");
    cell += text.slice(position, quote);
    if (text[quote + 1] !== '"') {
      const [rest, end] = plainCell(text, quote + 1);
      return [cell + rest, end];
    }
    cell += '"';
    position = quote + 2;
  }
}

/** Reads a table whose first line contains the column names; they must be the given names, in any order. */
export function readTable(text: string, columns: readonly string[], file: string): Table {
  const [header = [], ...records] = parseCsv(text);
  const absent = columns.filter((column) => !header.includes(column));
  if (absent.length > 0) throw new CsvError(`${file} lacks the columns ${absent.join(", ")}`);
  return Table.of(
    header,
    records.map((record, index) => {
      if (record.length > header.length) {
        throw new CsvError(
          `${file}, record ${index + 1}: ${record.length} cells for ${header.length} columns`,
        );
      }
      return Object.fromEntries(header.map((column, at) => [column, known(record[at] ?? "")])) as Cells;
    }),
  );
}

export function known(cell: string): string | null {
  return MISSING.has(cell) ? null : cell;
}
