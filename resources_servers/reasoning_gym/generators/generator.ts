import type { PyRandom } from "nemo-gym/python";

/** A freshly drawn task. */
export interface Puzzle {
  question: string;
  /** What the scorer and the solver need to know. */
  metadata: Readonly<Record<string, unknown>>;
}

/** Makes tasks of one kind, of three levels of difficulty, and solves them. */
export interface Generator {
  /** Name of the task, which also decides how answers are scored. */
  task: string;
  draw(random: PyRandom, level: Level): Puzzle;
  /** The right answer, found from the metadata alone. */
  solve(metadata: Puzzle["metadata"]): string;
}

export type Level = 1 | 2 | 3;

/** Types the metadata of one generator, which only its own `draw` ever makes. */
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

/** An array made by a function of the index. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Rows of cells as lines. */
export const gridText = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => row.join(" ")).join("\n");
