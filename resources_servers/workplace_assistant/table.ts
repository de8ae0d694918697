import { byCodePoint, parsePyInt, pyEquals } from "nemo-gym/python";
import { ToolError } from "./tool-error.ts";

/** A cell: a string, null if unknown, or any other value that a tool call stored. */
export type Cell = unknown;
export type Cells = Readonly<Record<string, Cell>>;

/** A row and its label. Rows are replaced, never modified, so that tables can share them. */
export interface Row {
  readonly label: number;
  readonly cells: Cells;
}

/**
 * A database table like a data frame: rows keep their label when others are deleted. A copy is cheap,
 * because every change creates a new list of rows.
 */
export class Table {
  readonly columns: readonly string[];
  #rows: readonly Row[];

  constructor(columns: readonly string[], rows: readonly Row[]) {
    this.columns = columns;
    this.#rows = rows;
  }

  static of(columns: readonly string[], records: readonly Cells[]): Table {
    return new Table(
      columns,
      records.map((cells, label) => ({ label, cells })),
    );
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  copy(): Table {
    return new Table(this.columns, this.#rows);
  }

  find(column: string, value: unknown): Row | undefined {
    return this.#rows.find(({ cells }) => pyEquals(cells[column], value));
  }

  /** Appends a row and renumbers all rows. */
  appendRenumbered(cells: Cells): void {
    this.#rows = [...this.#rows, { label: 0, cells }].map((row, label) =>
      row.label === label ? row : { ...row, label },
    );
  }

  /** Appends a row with a label of its own. */
  append(cells: Cells, label: number): void {
    this.#rows = [...this.#rows, { label, cells }];
  }

  /** Deletes the rows whose cell equals the value; returns whether there were any. */
  delete(column: string, value: unknown): boolean {
    const kept = this.#rows.filter(({ cells }) => !pyEquals(cells[column], value));
    const found = kept.length < this.#rows.length;
    this.#rows = kept;
    return found;
  }

  /** Sets a field of the rows whose cell equals the value. */
  update(column: string, value: unknown, field: string, cell: Cell): void {
    this.#rows = this.#rows.map((row) =>
      pyEquals(row.cells[column], value) ? { ...row, cells: { ...row.cells, [field]: cell } } : row,
    );
  }

  /** The number after the largest id, compared as text. */
  nextId(column: string): string {
    let largest: string | undefined;
    for (const { cells } of this.#rows) {
      const id = cells[column];
      if (typeof id !== "string") throw new ToolError(`'>=' not supported between ids of different types`);
      if (largest === undefined || byCodePoint(id, largest) > 0) largest = id;
    }
    const number = largest === undefined ? undefined : parsePyInt(largest);
    if (number === undefined) throw new ToolError(`cannot make an id after ${largest ?? "nan"}`);
    return String(number + 1n);
  }
}
