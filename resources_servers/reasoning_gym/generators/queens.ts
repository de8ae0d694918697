import { defineGenerator, gridText, times } from "./generator.ts";

/** Every way to place one queen per row so that no two attack each other, given the queens already placed. */
function placeQueens(size: number, given: readonly (number | null)[]): number[][] {
  const solutions: number[][] = [];
  const place = (columns: number[]) => {
    const row = columns.length;
    if (row === size) {
      solutions.push(columns);
      return;
    }
    const fixed = given[row] ?? null;
    for (let column = 0; column < size; column++) {
      if (fixed !== null && fixed !== column) continue;
      const attacked = columns.some(
        (other, above) => other === column || Math.abs(other - column) === row - above,
      );
      if (!attacked) place([...columns, column]);
    }
  };
  place([]);
  return solutions;
}

const boardText = (size: number, columns: readonly (number | null)[]): string =>
  gridText(columns.map((column) => times(size, (index) => (index === column ? "Q" : "_"))));

/** Queens on a board, some of them already placed. */
export const queens = defineGenerator<{ size: number; given: (number | null)[]; valid_answers: string[] }>({
  task: "n_queens",
  draw: (random, level) => {
    const size = 4 + level;
    const whole = random.choice(placeQueens(size, []));
    const removed = new Set(
      random.sample(
        times(size, (row) => row),
        2 * level,
      ),
    );
    const given = whole.map((column, row) => (removed.has(row) ? null : column));
    const valid_answers = placeQueens(size, given).map((columns) => boardText(size, columns));
    const question =
      `Place ${removed.size} more queens on this board of ${size} by ${size} squares so that no two stand in the same row, column or ` +
      `diagonal. Q is a queen, _ an empty square.\n\n${boardText(size, given)}\n\nAnswer with the whole board in the same form.`;
    return { question, metadata: { size, given, valid_answers } };
  },
  solve: ({ size, given }) => boardText(size, placeQueens(size, given)[0] ?? []),
});
