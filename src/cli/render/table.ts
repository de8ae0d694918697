import type { Terminal } from "./terminal.ts";
import { padEnd, textWidth, wrapText } from "./text-width.ts";

/** Minimum width of a column. */
const MINIMUM_COLUMN = 8;
/** Prose in a narrower column is hard to read. */
const READABLE_COLUMN = 24;
const LONG_WORD = 28;

export interface Table {
  readonly title?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that a narrow terminal omits, least important first. */
  readonly optional?: readonly string[];
}

/** A table with box borders. On a terminal it fits the width; elsewhere nothing is truncated. */
export function renderTable(whole: Table, terminal: Terminal): string {
  const table = terminal.isTty ? withoutOptional(whole, terminal.width) : whole;
  const natural = naturalWidths(table);
  const widths = terminal.isTty ? squeeze(natural, smallestWidths(table), terminal.width) : natural;
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
  const hidden = whole.columns.filter((column) => !table.columns.includes(column));
  if (hidden.length > 0) lines.push(terminal.dim(`Not shown at this width: ${hidden.join(", ")}.`));
  return lines.join("\n");
}

/** Omits columns until the others are readable. */
function withoutOptional(table: Table, width: number): Table {
  const [first, ...optional] = table.optional ?? [];
  if (first === undefined || tableWidth(readableWidths(table)) <= width) return table;
  const kept = table.columns.flatMap((column, index) => (column === first ? [] : [index]));
  const pick = (cells: readonly string[]) => kept.map((index) => cells[index] ?? "");
  return withoutOptional(
    { ...table, columns: pick(table.columns), rows: table.rows.map(pick), optional },
    width,
  );
}

function columnWidths({ columns, rows }: Table, measure: (cell: string) => number): number[] {
  return columns.map((heading, index) =>
    rows.reduce((widest, row) => Math.max(widest, measure(row[index] ?? "")), measure(heading)),
  );
}

function naturalWidths(table: Table): number[] {
  return columnWidths(table, widestLine);
}

/**
 * Widths at which no word is split. Names may be split, so that one very long name does not take the space of all
 * others.
 */
function smallestWidths(table: Table): number[] {
  return columnWidths(table, (cell) =>
    Math.max(MINIMUM_COLUMN, ...cell.split(/\s/).map((word) => Math.min(LONG_WORD, textWidth(word)))),
  );
}

function readableWidths(table: Table): number[] {
  const smallest = smallestWidths(table);
  return naturalWidths(table).map((width, index) =>
    Math.max(Math.min(width, READABLE_COLUMN), Math.min(width, smallest[index] ?? 0)),
  );
}

function tableWidth(widths: readonly number[]): number {
  return 1 + widths.reduce((total, width) => total + width + 3, 0);
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

/** Shrinks the widest column until the table fits, and splits words only as a last resort. */
function squeeze(natural: readonly number[], smallest: readonly number[], available: number): number[] {
  const widths = [...natural];
  for (const least of [smallest, natural.map(() => MINIMUM_COLUMN)]) {
    for (let excess = tableWidth(widths) - available; excess > 0; excess--) {
      const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
      const widest = Math.max(...spare);
      if (widest === 0) break;
      widths[spare.indexOf(widest)] = widest - 1;
    }
  }
  return widths;
}
