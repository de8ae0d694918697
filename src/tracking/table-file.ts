import { createHash } from "node:crypto";
import { writeFileAtomically } from "../rollouts/files/atomic-file.ts";

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
  const hash = createHash("sha256");
  const table: TableFile = { path, rows: 0, bytes: 0, sha256: "" };
  async function* parts() {
    yield `{"columns":[${JSON.stringify(column)}],"data":[`;
    for await (const cell of cells) yield `${table.rows++ > 0 ? "," : ""}[${JSON.stringify(cell)}]`;
    yield "]}";
  }
  const onBytes = (bytes: Buffer) => {
    hash.update(bytes);
    table.bytes += bytes.length;
  };
  await writeFileAtomically(path, parts(), { onBytes });
  table.sha256 = hash.digest("hex");
  return table;
}
