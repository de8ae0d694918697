import { floatCompact } from "../../python/numbers/float-text.ts";
import type { Row } from "../../rollouts/files/jsonl-rows.ts";
import { agentNameOf } from "../../rollouts/inputs/expand.ts";
import { conversationOf, finalText } from "./export-conversation.ts";
import type { ExportedRollout } from "./export-records.ts";

/** The type of a column; `text` if mixed. */
export type ColumnKind = "boolean" | "integer" | "number" | "text";

export interface TableColumn {
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

/** Members of a row that are not columns. */
const SKIPPED = new Set([
  "reward",
  "mask_sample",
  "response",
  "responses_create_params",
  "agent_ref",
  "skills_ref",
]);

/** The columns of a flat table: identity, scalar fields of the row, token usage, and the final text. */
export class TableColumns {
  private readonly kinds = new Map<string, ColumnKind>();
  private readonly usageKinds = new Map<string, ColumnKind>();

  /** Registers the fields of one row. */
  see(row: Row): void {
    for (const [name, value] of Object.entries(row)) if (!isPrivate(name)) note(this.kinds, name, value);
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
      finalText(conversationOf(row)),
    ];
  }
}

function isPrivate(name: string): boolean {
  return name.startsWith("_ng_") || name.startsWith("ng_") || SKIPPED.has(name);
}

function usageOf(row: Row): Row {
  const response = row["response"];
  const usage = response !== null && typeof response === "object" ? (response as Row)["usage"] : undefined;
  return usage !== null && typeof usage === "object" && !Array.isArray(usage) ? (usage as Row) : {};
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
