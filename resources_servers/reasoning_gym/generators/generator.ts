import type { PyRandom } from "nemo-gym/python";

/** A freshly drawn task. */
export interface Puzzle {
  question: string;
  /** Data for the scorer and the solver. */
  metadata: Readonly<Record<string, unknown>>;
}

/** Generates tasks of one kind with three levels of difficulty, and solves them. */
export interface Generator {
  /** Name of the task; it also selects the scorer. */
  task: string;
  draw(random: PyRandom, level: Level): Puzzle;
  /** The correct answer, computed from the metadata alone. */
  solve(metadata: Puzzle["metadata"]): string;
}

export type Level = 1 | 2 | 3;

/** Types the metadata of one generator, which is created only by its own `draw`. */
export function defineGenerator<Metadata extends object>(generator: {
  task: string;
  draw(random: PyRandom, level: Level): { question: string; metadata: Metadata };
  solve(metadata: Metadata): string;
}): Generator {
  const { task, draw, solve } = generator;
  return {
    task,
    draw: (random, level) => draw(random, level) as { question: string; metadata: Puzzle["metadata"] },
    solve: (metadata) => solve(metadata as Metadata),
  };
}

/** An array computed from its indices. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Formats rows of cells as lines. */
export const gridText = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => row.join(" ")).join("\n");
