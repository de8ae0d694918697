import { readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ErrorCodeRow } from "../../src/errors.ts";
import { GENERATED, markdownTable } from "./markdown.ts";

/** docs/reference/errors.md: the tables of every `errors.ts` and `error-codes.ts` below src/. */
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

/** All tables, by folder; a folder without one has no errors of its own. */
export async function errorTables(): Promise<{ folder: string; rows: ErrorCodeRow[] }[]> {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  const extension = path.extname(fileURLToPath(import.meta.url));
  const tables: { folder: string; rows: ErrorCodeRow[] }[] = [];
  const files = await readdir(source, { recursive: true });
  const names = [`errors${extension}`, `error-codes${extension}`];
  for (const name of files.filter((file) => names.includes(path.basename(file))).sort()) {
    const folder = path.dirname(name);
    const file = path.join(source, name);
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    const rows = Object.values(module).filter(Array.isArray).flat() as ErrorCodeRow[];
    if (rows.length > 0) tables.push({ folder, rows });
  }
  return tables;
}
