import { dirname } from "node:path";
import {
  type BasicType,
  type ColumnSource,
  fileWriter,
  ParquetWriter,
  schemaFromColumnData,
} from "hyparquet-writer";
import { replaceWith } from "../../files/durable-file.ts";
import { fileError } from "../../rollouts/errors.ts";
import { makeDirectory } from "../../rollouts/files/artifact-paths.ts";
import type { ColumnKind, TableColumn } from "./export-table.ts";

const ROW_GROUP = 5_000;

const TYPES = {
  boolean: "BOOLEAN",
  integer: "INT64",
  number: "DOUBLE",
  text: "STRING",
} as const satisfies Record<ColumnKind, BasicType>;

/** Writes rows of cells as a Parquet file, with a few thousand rows in memory at a time; atomic. */
export async function writeParquet(
  path: string,
  columns: readonly TableColumn[],
  rows: Iterable<readonly unknown[]>,
): Promise<number> {
  await makeDirectory(dirname(path));
  try {
    return await replaceWith(path, async (partial) => {
      const writer = new ParquetWriter({
        writer: fileWriter(partial),
        schema: schemaFromColumnData({ columnData: sources(columns, []) }),
      });
      let written = 0;
      for (const group of groups(rows)) {
        await writer.write({ columnData: sources(columns, group), rowGroupSize: ROW_GROUP });
        written += group.length;
      }
      writer.finish();
      return written;
    });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : fileError(error, path, "write");
  }
}

function* groups(rows: Iterable<readonly unknown[]>): Generator<(readonly unknown[])[]> {
  let group: (readonly unknown[])[] = [];
  for (const row of rows) {
    group.push(row);
    if (group.length < ROW_GROUP) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function sources(columns: readonly TableColumn[], rows: readonly (readonly unknown[])[]): ColumnSource[] {
  return columns.map(({ name, kind }, place) => ({
    name,
    type: TYPES[kind],
    nullable: true,
    data: rows.map((row) => stored(row[place], kind)),
  }));
}

function stored(value: unknown, kind: ColumnKind): unknown {
  if (value === null || value === undefined) return null;
  return kind === "integer" ? BigInt(value as number) : value;
}
