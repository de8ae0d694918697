import { compilePyRegex, PyFloat, type PyRegex, RegexBudgetError, RegexSyntaxError } from "nemo-gym/python";
import type { Cell, Row } from "../table.ts";
import { ToolError } from "../tool-error.ts";

/** Time limit of a search; only patterns with exponential backtracking need more than a few milliseconds. */
const MAX_SEARCH_MS = 250;

/** Tests whether a cell contains a pattern: a case-insensitive Python regular expression. */
export function containing(pattern: unknown): (cell: string) => boolean {
  if (typeof pattern !== "string") throw new ToolError("first argument must be string or compiled pattern");
  let regex: PyRegex;
  try {
    regex = compilePyRegex(pattern, { ignoreCase: true });
  } catch (error) {
    if (error instanceof RegexSyntaxError || error instanceof RegexBudgetError)
      throw new ToolError(error.message);
    throw error;
  }
  const started = performance.now();
  return (cell) => {
    if (performance.now() - started > MAX_SEARCH_MS)
      throw new ToolError("the pattern takes too long to search for");
    try {
      return regex.search(cell) !== null;
    } catch (error) {
      if (error instanceof RegexBudgetError) throw new ToolError(error.message);
      throw error;
    }
  };
}

/** The rows whose cell contains the pattern. Throws for a cell that is not a string. */
export function rowsContaining(rows: readonly Row[], column: string, pattern: unknown): readonly Row[] {
  const matches = containing(pattern);
  const kept = rows.filter(({ cells }) => typeof cells[column] === "string" && matches(cells[column]));
  if (rows.some(({ cells }) => typeof cells[column] !== "string")) {
    throw new ToolError("Cannot mask with non-boolean array containing NA / NaN values");
  }
  return kept;
}

/** A text cell, or undefined if it is missing. Throws for other values, because they cannot be compared with text. */
export function comparableCell(cell: Cell): string | undefined {
  if (cell === null || cell === undefined) return undefined;
  if (typeof cell !== "string")
    throw new ToolError("comparison not supported between instances of different types");
  return cell;
}

export interface Page<Item> {
  items: Item[];
  pagination: Record<string, number>;
}

/** A number with its Python type: a float is not allowed as a slice index. */
interface PyNumber {
  value: number;
  isFloat: boolean;
}

/**
 * One page of a list; page numbers out of range are moved to the nearest page. `counted` names the total. An empty list has no
 * pages, but the arguments are still checked.
 */
export function paginate<Item>(
  items: readonly Item[],
  page: unknown,
  pageSize: unknown,
  counted: string,
): Page<Item> | undefined {
  const size = numberOf(pageSize);
  if (size.value === 0) throw new ToolError("integer division or modulo by zero");
  const total = items.length;
  const pages = Math.floor((total + size.value - 1) / size.value);
  const number = pages > 0 ? nearestPage(numberOf(page), pages) : whole(1);
  if (total === 0) return undefined;
  const start = (number.value - 1) * size.value;
  const isFloat = number.isFloat || size.isFloat;
  if (isFloat) throw new ToolError("slice indices must be integers");
  return {
    items: items.slice(start, Math.min(start + size.value, total)),
    pagination: { [counted]: total, page: number.value, page_size: size.value, total_pages: pages },
  };
}

const whole = (value: number): PyNumber => ({ value, isFloat: false });

function nearestPage(page: PyNumber, pages: number): PyNumber {
  if (page.value > pages) return whole(pages);
  return page.value > 1 ? page : whole(1);
}

function numberOf(value: unknown): PyNumber {
  if (value instanceof PyFloat) return { value: value.value, isFloat: true };
  if (typeof value === "number") return { value, isFloat: !Number.isInteger(value) };
  if (typeof value === "boolean" || typeof value === "bigint") return whole(Number(value));
  throw new ToolError("page and page_size must be whole numbers");
}
