import { defineGenerator, gridText, times } from "./generator.ts";

const SIZE = 4;
const BOX = 2;

/** Fills the zeros of a grid by backtracking; returns at most `limit` solutions. */
function solveSudoku(puzzle: readonly (readonly number[])[], limit: number): number[][][] {
  const grid = puzzle.map((row) => [...row]);
  const solutions: number[][][] = [];
  const fits = (row: number, column: number, digit: number) =>
    times(SIZE, (index) => index).every((index) => {
      const boxRow = row - (row % BOX) + Math.floor(index / BOX);
      const boxColumn = column - (column % BOX) + (index % BOX);
      return (
        grid[row]?.[index] !== digit && grid[index]?.[column] !== digit && grid[boxRow]?.[boxColumn] !== digit
      );
    });
  const fill = (cell: number): void => {
    if (solutions.length >= limit) return;
    if (cell === SIZE * SIZE) {
      solutions.push(grid.map((row) => [...row]));
      return;
    }
    const [row, column] = [Math.floor(cell / SIZE), cell % SIZE];
    const cells = grid[row] ?? [];
    if (cells[column] !== 0) {
      fill(cell + 1);
      return;
    }
    for (let digit = 1; digit <= SIZE; digit++) {
      if (!fits(row, column, digit)) continue;
      cells[column] = digit;
      fill(cell + 1);
      cells[column] = 0;
    }
  };
  fill(0);
  return solutions;
}

/** Small sudokus with exactly one solution. */
export const miniSudoku = defineGenerator<{ puzzle: number[][]; solution: number[][] }>({
  task: "mini_sudoku",
  draw: (random, level) => {
    const all = solveSudoku(
      times(SIZE, () => times(SIZE, () => 0)),
      300,
    );
    const solution = random.choice(all);
    const puzzle = solution.map((row) => [...row]);
    let empty = 0;
    for (const cell of random.shuffle(times(SIZE * SIZE, (index) => index))) {
      if (empty >= 4 + 3 * level) break;
      const row = puzzle[Math.floor(cell / SIZE)] ?? [];
      const digit = row[cell % SIZE] ?? 0;
      row[cell % SIZE] = 0;
      if (solveSudoku(puzzle, 2).length === 1) empty++;
      else row[cell % SIZE] = digit;
    }
    const shown = gridText(puzzle.map((row) => row.map((digit) => (digit === 0 ? "_" : digit))));
    const question =
      "Complete this grid so that every row, every column and each of the four 2 by 2 boxes has the digits 1 to 4.\n\n" +
      `${shown}\n\nAnswer with the whole grid in the same form.`;
    return { question, metadata: { puzzle, solution } };
  },
  solve: ({ puzzle }) => gridText(solveSudoku(puzzle, 1)[0] ?? []),
});
