import { FormatError } from "./errors.ts";
import { type Mapping, mappingOf } from "./mapping.ts";

/** Python's `csv.field_size_limit()`. */
const maxFieldLength = 131_072;

/**
 * The rows of a CSV text, like Python's `csv.DictReader`: the first record names the columns, further cells are a list with the
 * key null, and missing cells are null.
 */
export function parseCsv(text: string): Mapping[] {
  const [header = [], ...records] = csvRecords(text);
  return records
    .filter((record) => record.length > 0)
    .map((record) => {
      const entries: [unknown, unknown][] = header.map((name, index) => [name, record[index] ?? null]);
      if (record.length > header.length) entries.push([null, record.slice(header.length)]);
      return mappingOf(entries);
    });
}

type State = "start of field" | "in field" | "in quotes" | "after quote" | "end of record";

/** The records of a CSV text, like Python's `csv.reader`. A blank line is a record without cells. */
export function csvRecords(text: string, delimiter = ","): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cell: string[] = [];
  let length = 0;
  let state: State = "start of field";
  let fresh = true;

  const add = (character: string) => {
    if (++length > maxFieldLength)
      throw new FormatError("csv", `field larger than field limit (${maxFieldLength})`);
    cell.push(character);
  };
  const endCell = () => {
    record.push(cell.join(""));
    cell = [];
    length = 0;
  };
  const endRecord = () => {
    records.push(record);
    record = [];
    fresh = true;
    state = "start of field";
  };

  for (const character of text) {
    const lineEnd = character === "\n" || character === "\r";
    if (state === "end of record") {
      if (character === "\n") endRecord();
      else if (character !== "\r") throw new FormatError("csv", "new-line character seen in unquoted field");
      continue;
    }
    if (state === "in quotes") {
      if (character === '"') state = "after quote";
      else add(character);
      continue;
    }
    if (lineEnd) {
      if (!fresh) endCell();
      if (character === "\n") endRecord();
      else state = "end of record";
      continue;
    }
    fresh = false;
    if (character === delimiter) {
      endCell();
      state = "start of field";
    } else if (character === '"' && state !== "in field") {
      if (state === "after quote") add(character);
      state = "in quotes";
    } else {
      add(character);
      state = "in field";
    }
  }
  if (!fresh && state !== "end of record") endCell();
  if (!fresh || state === "end of record") endRecord();
  return records;
}
