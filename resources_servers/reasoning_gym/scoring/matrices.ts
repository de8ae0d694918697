import { loads, parsePyFloat, pyEquals, pyStr, splitLines, splitWords, strip } from "nemo-gym/python";
import { containmentScore, exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";
import { parseLiteral } from "./python-literal.ts";

const rowText = (row: unknown): string => {
  if (typeof row === "string") return Array.from(row).join(" ");
  if (!Array.isArray(row)) throw new TypeError("not a row");
  return row.map(pyStr).join(" ");
};

function matrixText(rows: unknown): string {
  if (!Array.isArray(rows)) throw new TypeError("not a matrix");
  return rows.map(rowText).join("\n");
}

const binaryMatrix: Scorer = (answer, entry) => {
  if (answer === oracle(entry)) return 1;
  return orElse(0, () => (matrixText(parseLiteral(answer)) === oracle(entry) ? 0.1 : 0));
};

const manipulateMatrix: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = strip(oracle(entry));
  const given = strip(answer);
  if (given === wanted) return 1;
  // Extra spaces are ignored.
  const tidy = strip(
    given
      .split("\n")
      .map((row) => splitWords(strip(row)).join(" "))
      .join("\n"),
  );
  return containmentScore(tidy, wanted);
};

const spiralMatrix: Scorer = (answer, entry) => {
  const wanted = strip(oracle(entry));
  const given = strip(answer);
  if (given !== "" && given === wanted) return 1;
  return orElse(0, () => (rowText(parseLiteral(given)) === wanted ? 0.1 : 0));
};

/** Rows of numbers separated by white space; `#` starts a comment. One row or one column becomes a flat list. */
function numberTable(text: string): { shape: string; values: number[] } {
  const rows = splitLines(text)
    .map((line) => splitWords(line.split("#", 1)[0] ?? ""))
    .filter((row) => row.length > 0);
  const width = rows[0]?.length ?? 0;
  const values = rows.flat().map((cell) => {
    const value = parsePyFloat(cell);
    if (value === undefined) throw new TypeError(`${cell} is not a number`);
    return Math.fround(value);
  });
  if (rows.some((row) => row.length !== width)) throw new TypeError("rows of different lengths");
  const sizes = [rows.length, width].filter((size) => size !== 1);
  return { shape: sizes.join("x"), values };
}

const poolMatrix: Scorer = (answer, entry) =>
  orElse(0, () => {
    const wanted = numberTable(oracle(entry));
    const given = numberTable(answer);
    if (wanted.shape !== given.shape) return 0;
    const close = wanted.values.every((value, index) => {
      const other = given.values[index] ?? Number.NaN;
      return Math.abs(value - other) <= 1e-8 + 1e-2 * Math.abs(other);
    });
    return close ? 1 : 0.1;
  });

const gameOfLife: Scorer = (answer, entry) => {
  const given = tryJson(answer);
  const wanted = tryJson(oracle(entry));
  if (given === undefined || !Array.isArray(wanted) || wanted.length === 0) return 0;
  const rows = Array.isArray(wanted[0]) ? wanted : [wanted];
  const own = Array.isArray(wanted[0]) ? given : [given];
  let [cells, right] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (const [x, cell] of (row as unknown[]).entries()) {
      cells++;
      const line = Array.isArray(own) ? own[y] : undefined;
      if (Array.isArray(line) && x < line.length && pyEquals(line[x], cell)) right++;
    }
  }
  return cells === 0 ? 0 : right / cells;
};

function tryJson(text: string): unknown {
  try {
    return loads(text, { allowNonFinite: true });
  } catch {
    return undefined;
  }
}

/** A board of digits, one row per line. */
function parseBoard(text: string): number[][] {
  const lines = text
    .split("\n")
    .map((line) => strip(line))
    .filter((line) => !line.startsWith("Shape: "));
  return strip(lines.join("\n"))
    .split("\n")
    .map((row) => {
      const cells = row
        .split(" ")
        .map((cell) => strip(cell))
        .filter((cell) => cell !== "");
      if (!cells.every((cell) => /^[0-9]$/.test(cell))) throw new TypeError("not a board");
      return cells.map(Number);
    });
}

/**
 * A readable board scores 0.05. Rows are JSON, and the original never finds a board from JSON equal to its own tuple of tuples,
 * so the correct board scores 0.05 too.
 */
const board: Scorer = (answer, entry) =>
  orElse(0, () => {
    metadata(entry, "output");
    parseBoard(answer);
    return 0.05;
  });

const isSurvoRow = (line: string): number[] =>
  splitWords(line)
    .filter((word) => /^[+-]?\d+(?:_\d+)*$/.test(word))
    .map((word) => Number(word.replaceAll("_", "")));

const survo: Scorer = (answer, entry) => {
  const size = metadata<number>(entry, "board_size");
  const wanted = metadata<number[][]>(entry, "solution");
  const grid = strip(answer)
    .split("\n")
    .map(isSurvoRow)
    .filter((row) => row.length > 0);
  if (grid.length !== size || grid.some((row) => row.length !== size)) return 0;
  return exactly(grid.every((row, y) => row.every((cell, x) => cell === wanted[y]?.[x])));
};

const kakurasu: Scorer = (answer, entry) => {
  const grid = strip(answer)
    .split("\n")
    .map((line) => [...line].filter((cell) => cell === "0" || cell === "1").map(Number));
  const [height, width] = [metadata<number>(entry, "n_rows"), metadata<number>(entry, "n_cols")];
  if (grid.length !== height || grid.some((row) => row.length !== width)) return 0;
  const weigh = (cells: readonly number[]) => cells.reduce((sum, cell, index) => sum + cell * (index + 1), 0);
  const columns = Array.from({ length: width }, (_, x) => grid.map((row) => row[x] ?? 0));
  const rowsRight = pyEquals(grid.map(weigh), metadata(entry, "row_sums"));
  return exactly(rowsRight && pyEquals(columns.map(weigh), metadata(entry, "col_sums")));
};

export const matrices: Record<string, Scorer> = {
  arc_agi: board,
  binary_matrix: binaryMatrix,
  game_of_life: gameOfLife,
  kakurasu,
  manipulate_matrix: manipulateMatrix,
  pool_matrix: poolMatrix,
  rearc: board,
  spiral_matrix: spiralMatrix,
  survo,
};
