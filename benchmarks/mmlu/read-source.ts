import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { PrepareContext } from "nemo-gym";
import { memberAt, parseCsv } from "nemo-gym/verify";
import { type Question, readRow } from "./convert.ts";
import { readTar } from "./read-tar.ts";

const COLUMNS = ["question", "A", "B", "C", "D", "answer"];

/**
 * The questions in a source: the authors' `data.tar`, the folder it unpacks to, one of its tables, or rows with `question`,
 * `subject`, `choices` and `answer` as JSON lines or parquet.
 */
export async function* readSource(
  source: string,
  split: string,
  context: PrepareContext,
): AsyncGenerator<Question> {
  if ((await stat(source)).isDirectory()) {
    for (const file of await tablesIn(source, split)) yield* readTable(file, await readFile(file, "utf8"));
  } else if (source.endsWith(".tar")) {
    const wanted = (name: string) => name.endsWith(`_${split}.csv`) && !path.basename(name).startsWith(".");
    for await (const { name, text } of readTar(source, wanted, context.signal)) yield* readTable(name, text);
  } else if (source.endsWith(".csv")) yield* readTable(source, await readFile(source, "utf8"));
  else {
    let number = 0;
    for await (const row of context.readRows(source)) yield readRow(row, ++number);
  }
}

async function tablesIn(folder: string, split: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const tables = names.filter((name) => name.endsWith(`_${split}.csv`)).sort();
  if (tables.length === 0) throw new Error(`${folder} holds no tables called <subject>_${split}.csv`);
  return tables.map((name) => path.join(folder, name));
}

/** A table of the authors: no header, six columns, the subject in the file name. */
function* readTable(file: string, text: string): Generator<Question> {
  const subject = path.basename(file, ".csv").replace(/_(?:dev|val|test)$/, "");
  for (const [index, record] of parseCsv(`${COLUMNS.join(",")}\n${text}`).entries()) {
    const cells = COLUMNS.map((column) => memberAt(record, column));
    if (!cells.every((cell) => typeof cell === "string")) {
      throw new Error(`${file}, row ${index + 1} does not have six columns`);
    }
    const [question = "", ...rest] = cells;
    yield { subject, question, choices: rest.slice(0, 4), answer: (rest[4] ?? "").trim() };
  }
}
