import { defineGenerator, gridText, times } from "./generator.ts";

const STEPS = [
  ["up", -1, 0],
  ["down", 1, 0],
  ["left", 0, -1],
  ["right", 0, 1],
] as const;

/** The directions of a shortest path from `*` to `#` around the `X`, by breadth-first search; undefined if there is none. */
export function walk(matrix: readonly (readonly string[])[]): string[] | undefined {
  const startRow = matrix.findIndex((row) => row.includes("*"));
  const start = [startRow, matrix[startRow]?.indexOf("*") ?? 0] as const;
  const queue: { row: number; column: number; path: string[] }[] = [
    { row: start[0], column: start[1], path: [] },
  ];
  const seen = new Set([start.join()]);
  for (const { row, column, path } of queue) {
    if (matrix[row]?.[column] === "#") return path;
    for (const [name, down, right] of STEPS) {
      const next = { row: row + down, column: column + right, path: [...path, name] };
      const cell = matrix[next.row]?.[next.column];
      const key = `${next.row},${next.column}`;
      if (cell === undefined || cell === "X" || seen.has(key)) continue;
      seen.add(key);
      queue.push(next);
    }
  }
  return undefined;
}

/** Paths through a grid with blocked cells. */
export const shortestPath = defineGenerator<{ matrix: string[][] }>({
  task: "shortest_path",
  draw: (random, level) => {
    const size = 3 + 2 * level;
    const matrix = times(size, () => times(size, (): string => (random.random() < 0.3 ? "X" : "O")));
    const [from, to] = random.sample(
      times(size * size, (cell) => cell),
      2,
    ) as [number, number];
    const put = (cell: number, symbol: string) => {
      const row = matrix[Math.floor(cell / size)];
      if (row !== undefined) row[cell % size] = symbol;
    };
    put(from, "*");
    put(to, "#");
    const question =
      "Find a shortest way from * to # in this grid. X is blocked, O is free; go up, down, left or right.\n\n" +
      `${gridText(matrix)}\n\nAnswer with the directions separated by spaces, or with "infeasible" if there is no way.`;
    return { question, metadata: { matrix } };
  },
  solve: ({ matrix }) => walk(matrix)?.join(" ") ?? "infeasible",
});
