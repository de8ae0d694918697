import { readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ErrorTable } from "../../src/base/errors.ts";
import { GENERATED, markdownTable } from "./markdown.ts";

/** docs/reference/errors.md: the tables of every `errors.ts` below src/. */
export async function errorsPage(): Promise<string> {
  const parts = [
    "# Error codes",
    GENERATED,
    "Every error the gym raises on purpose has a stable `code`. The command line prints the message; programs that " +
      "import the package find the code on the error object.",
  ];
  for (const { folder, rows } of await errorTables()) {
    const cells = rows.map((row) => [`\`${row.code}\``, `\`${row.class}\``, row.when, row.fix]);
    parts.push(`## ${folder}`, markdownTable(["Code", "Class", "When", "What to do"], cells));
  }
  return `${parts.join("\n\n")}\n`;
}

interface ErrorRow {
  code: string;
  class: string;
  when: string;
  fix: string;
}

/** All tables, by folder; a folder without a table has no errors of its own. */
export async function errorTables(): Promise<{ folder: string; rows: ErrorRow[] }[]> {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  const extension = path.extname(fileURLToPath(import.meta.url));
  const tables: { folder: string; rows: ErrorRow[] }[] = [];
  const files = await readdir(source, { recursive: true });
  for (const name of files.filter((file) => path.basename(file) === `errors${extension}`).sort()) {
    const module = (await import(pathToFileURL(path.join(source, name)).href)) as Record<string, unknown>;
    const table = Object.entries(module).find(([exported]) => exported.endsWith("ErrorCodes"))?.[1];
    if (table !== undefined) tables.push({ folder: path.dirname(name), rows: rowsOf(table as ErrorTable) });
  }
  return tables;
}

function rowsOf(table: ErrorTable): ErrorRow[] {
  return Object.entries(table).flatMap(([name, codes]) =>
    Object.entries(codes).map(([code, help]) => ({ code, class: name, ...help })),
  );
}
