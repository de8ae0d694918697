import { dirname } from "node:path";
import {
  type BasicType,
  type ColumnSource,
  fileWriter,
  ParquetWriter,
  schemaFromColumnData,
} from "hyparquet-writer";
import { replaceWith } from "../../../base/files/door.ts";
import { isObject } from "../../../base/python/json/door.ts";
import { floatCompact } from "../../../base/python/numbers/door.ts";
import { fileError } from "../../errors.ts";
import { makeOutputDirectory } from "../../files/artifact-paths.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { agentNameOf } from "../../files/row-fields.ts";
import { chatConversationOf, finalText } from "./export-conversation.ts";
import { type ExportedRollout, isOwnField } from "./export-records.ts";

/** The type of a column; `text` if mixed. */
type ColumnKind = "boolean" | "integer" | "number" | "text";

interface TableColumn {
  name: string;
  kind: ColumnKind;
}

type Cell = boolean | number | string | null;

const FIXED: TableColumn[] = [
  { name: "task_index", kind: "integer" },
  { name: "rollout_index", kind: "integer" },
  { name: "agent", kind: "text" },
  { name: "reward", kind: "number" },
];

/** The columns of a flat table: identity, scalar fields of the row, token usage, and the final text. */
export class TableColumns {
  private readonly kinds = new Map<string, ColumnKind>();
  private readonly usageKinds = new Map<string, ColumnKind>();

  /** Registers the fields of one row. */
  see(row: Row): void {
    for (const [name, value] of Object.entries(row)) if (isOwnField(name)) note(this.kinds, name, value);
    for (const [name, value] of Object.entries(usageOf(row))) note(this.usageKinds, name, value);
  }

  list(): TableColumn[] {
    const taken = new Set(FIXED.map(({ name }) => name).concat("output_text"));
    const own = [...this.kinds].map(([name, kind]) => ({
      name: taken.has(name) ? `row.${name}` : name,
      kind,
    }));
    const usage = [...this.usageKinds].map(([name, kind]) => ({ name: `usage.${name}`, kind }));
    return [...FIXED, ...own, ...usage, { name: "output_text", kind: "text" }];
  }

  /** The cells of one rollout, in the order of `list`. */
  cells({ row, task, candidate }: ExportedRollout): Cell[] {
    const usage = usageOf(row);
    return [
      task.taskIndex,
      candidate.rolloutIndex,
      agentNameOf(row) ?? null,
      candidate.reward,
      ...[...this.kinds].map(([name, kind]) => cell(row[name], kind)),
      ...[...this.usageKinds].map(([name, kind]) => cell(usage[name], kind)),
      finalText(chatConversationOf(row)),
    ];
  }
}

function usageOf(row: Row): Row {
  const usage = isObject(row["response"]) ? row["response"]["usage"] : undefined;
  return isObject(usage) ? usage : {};
}

function note(kinds: Map<string, ColumnKind>, name: string, value: unknown): void {
  const kind = kindOf(value);
  if (kind === undefined) return;
  const known = kinds.get(name);
  if (known === undefined || known === kind) kinds.set(name, kind);
  else kinds.set(name, isNumeric(known) && isNumeric(kind) ? "number" : "text");
}

function isNumeric(kind: ColumnKind): boolean {
  return kind === "integer" || kind === "number";
}

function kindOf(value: unknown): ColumnKind | undefined {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "integer" : "number";
    case "string":
      return "text";
    default:
      return undefined;
  }
}

function cell(value: unknown, kind: ColumnKind): Cell {
  if (kindOf(value) === undefined) return null;
  return kind === "text" ? String(value) : (value as Cell);
}

/** One line of CSV (RFC 4180): quotes where needed, empty for null. Float columns keep the `.0` of integers. */
export function csvLine(cells: readonly Cell[], columns: readonly TableColumn[] = []): string {
  return `${cells.map((value, place) => csvCell(value, columns[place]?.kind)).join(",")}\n`;
}

function csvCell(value: Cell, kind: ColumnKind | undefined): string {
  if (value === null) return "";
  const text = kind === "number" ? floatCompact(Number(value)) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

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
  await makeOutputDirectory(dirname(path));
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
