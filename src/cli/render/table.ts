import type { Terminal } from "./terminal.ts";
import { padEnd, textWidth, wrapText } from "./text-width.ts";

/** No column is squeezed below this many characters. */
const MINIMUM_COLUMN = 8;

export interface Table {
  readonly title?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table with box borders. On a terminal it is wrapped to the width, elsewhere nothing is ever cut. */
export function renderTable(table: Table, terminal: Terminal): string {
  const natural = table.columns.map((heading, index) =>
    Math.max(textWidth(heading), ...table.rows.map((row) => widestLine(row[index] ?? ""))),
  );
  const widths = terminal.isTty ? squeeze(natural, terminal.width) : natural;
  const rule = (left: string, middle: string, right: string) =>
    left + widths.map((width) => "─".repeat(width + 2)).join(middle) + right;
  const lines = [
    ...(table.title === undefined ? [] : [terminal.bold(table.title)]),
    rule("┌", "┬", "┐"),
    ...renderRow(table.columns, widths, terminal.bold),
    rule("├", "┼", "┤"),
    ...table.rows.flatMap((row) => renderRow(row, widths, (cell) => cell)),
    rule("└", "┴", "┘"),
  ];
  return lines.join("\n");
}

function widestLine(cell: string): number {
  return Math.max(...cell.split("\n").map(textWidth));
}

function renderRow(
  cells: readonly string[],
  widths: readonly number[],
  style: (cell: string) => string,
): string[] {
  const wrapped = widths.map((width, index) => wrapText(cells[index] ?? "", width));
  const height = Math.max(1, ...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = widths.map((width, index) => ` ${style(padEnd(wrapped[index]?.[line] ?? "", width))} `);
    return `│${parts.join("│")}│`;
  });
}

/** Takes room from the widest column until the table fits. */
function squeeze(natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  const room = available - 1 - widths.length * 3;
  for (let total = sum(widths); total > room; total--) {
    const widest = Math.max(...widths);
    if (widest <= MINIMUM_COLUMN) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
