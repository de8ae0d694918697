import { defineGenerator, times } from "./generator.ts";

interface Graph {
  puzzle: { vertices: number[]; edges: [number, number][]; color_options: number[] };
}

/** Colours all vertices by backtracking; undefined if there are too few colours. */
export function colour({ vertices, edges, color_options }: Graph["puzzle"]): Map<number, number> | undefined {
  const colours = new Map<number, number>();
  const isFree = (vertex: number, option: number) =>
    edges.every(
      ([u, v]) =>
        !(u === vertex && colours.get(v) === option) && !(v === vertex && colours.get(u) === option),
    );
  const paint = (index: number): boolean => {
    const vertex = vertices[index];
    if (vertex === undefined) return true;
    for (const option of color_options) {
      if (!isFree(vertex, option)) continue;
      colours.set(vertex, option);
      if (paint(index + 1)) return true;
      colours.delete(vertex);
    }
    return false;
  };
  return paint(0) ? colours : undefined;
}

/** Vertices to colour so that neighbours differ. */
export const graphColoring = defineGenerator<Graph>({
  task: "graph_color",
  draw: (random, level) => {
    for (;;) {
      const vertices = times(4 + 3 * level, (vertex) => vertex);
      const pairs = vertices.flatMap((u) =>
        vertices.filter((v) => v > u).map((v): [number, number] => [u, v]),
      );
      const edges = pairs.filter(() => random.random() < 0.4);
      const puzzle = { vertices, edges, color_options: [1, 2, 3] };
      if (edges.length === 0 || colour(puzzle) === undefined) continue;
      const question =
        `Give each of the vertices ${vertices.join(", ")} one of the colours 1, 2 and 3 so that the two ends of every edge differ.\n` +
        `Edges: ${edges.map(([u, v]) => `(${u}, ${v})`).join(", ")}\n` +
        `Answer with a JSON object from vertex to colour such as {"0": 1, "1": 2}.`;
      return { question, metadata: { puzzle } };
    }
  },
  solve: ({ puzzle }) => {
    const colours = [...(colour(puzzle) ?? [])].map(([vertex, option]) => `"${vertex}": ${option}`);
    return `{${colours.join(", ")}}`;
  },
});
