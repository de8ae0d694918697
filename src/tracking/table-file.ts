import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";

const CHUNK_CHARACTERS = 1 << 20;

export interface TableFile {
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/** Writes a table of one column as `{"columns": […], "data": [[…], …]}`, the form both services show; row by row. */
export async function writeTable(
  path: string,
  column: string,
  cells: AsyncIterable<string>,
): Promise<TableFile> {
  await makeDirectory(dirname(path));
  const partial = `${path}.partial`;
  const file = await open(partial, "w");
  const hash = createHash("sha256");
  const table: TableFile = { path, rows: 0, bytes: 0, sha256: "" };
  let pending = `{"columns":[${JSON.stringify(column)}],"data":[`;
  const flush = async () => {
    const bytes = Buffer.from(pending, "utf8");
    pending = "";
    hash.update(bytes);
    table.bytes += bytes.length;
    await file.writeFile(bytes);
  };
  try {
    for await (const cell of cells) {
      pending += `${table.rows++ > 0 ? "," : ""}[${JSON.stringify(cell)}]`;
      if (pending.length >= CHUNK_CHARACTERS) await flush();
    }
    pending += "]}";
    await flush();
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
  await file.close();
  await rename(partial, path);
  table.sha256 = hash.digest("hex");
  return table;
}
