import { pyEquals } from "nemo-gym/python";
import type { Cells, Table } from "./table.ts";
import type { Workplace } from "./workplace.ts";

/** Columns that are compared with case. */
const CASE_SENSITIVE = new Set(["status", "list_name", "board"]);

/** Whether two workplaces have the same final state: equal rows, in the same order, with the same labels. */
export function sameState(left: Workplace, right: Workplace): boolean {
  return (
    sameTable(left.calendar, right.calendar) &&
    sameTable(left.emails, right.emails) &&
    sameTable(left.plots, right.plots) &&
    sameTable(left.tasks, right.tasks) &&
    sameTable(left.customers, right.customers)
  );
}

function sameTable(left: Table, right: Table): boolean {
  if (left.rows === right.rows) return true;
  if (left.rows.length !== right.rows.length) return false;
  return left.rows.every((row, index) => {
    const other = right.rows[index];
    if (other === undefined) return false;
    return row === other || (row.label === other.label && sameCells(row.cells, other.cells, left.columns));
  });
}

function sameCells(left: Cells, right: Cells, columns: readonly string[]): boolean {
  if (left === right) return true;
  return columns.every((column) => {
    const [a, b] = [left[column], right[column]];
    if (CASE_SENSITIVE.has(column)) return pyEquals(a, b);
    return comparable(a) === comparable(b);
  });
}

/** Cells are compared in lower case. Values that are not strings count as missing, and missing equals missing. */
function comparable(cell: unknown): string | undefined {
  return typeof cell === "string" ? cell.toLowerCase() : undefined;
}
