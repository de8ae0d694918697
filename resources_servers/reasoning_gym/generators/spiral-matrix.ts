import { defineGenerator, gridText, times } from "./generator.ts";

/** Grids read from the outside in. */
export const spiralMatrix = defineGenerator<{ matrix: number[][] }>({
  task: "spiral_matrix",
  draw: (random, level) => {
    const size = level + 2;
    const matrix = times(size, () => times(size, () => random.int(0, 9)));
    const question =
      "Read the numbers of this grid in a spiral: along the top row from left to right, then down the right side, and so on " +
      `inwards.\n\n${gridText(matrix)}\n\nAnswer with the numbers separated by spaces.`;
    return { question, metadata: { matrix } };
  },
  solve: ({ matrix }) => {
    let rows = matrix.map((row) => [...row]);
    const read: number[] = [];
    while (rows.length > 0) {
      read.push(...(rows.shift() ?? []));
      // After a rotation to the left, the next side is on top.
      const width = rows[0]?.length ?? 0;
      const turned = times(width, (column) => rows.map((row) => row[width - 1 - column] ?? 0));
      rows = turned;
    }
    return read.join(" ");
  },
});
