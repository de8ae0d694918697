import { defineGenerator, times } from "./generator.ts";

interface Jugs {
  puzzle: { jug_capacities: number[]; target: number };
}

const label = (jug: number) => String.fromCharCode(65 + jug);

/** The shortest list of moves that leaves the target in a jug, by breadth-first search; undefined if there is none. */
function pourJugs(capacities: readonly number[], target: number): string[] | undefined {
  const start = capacities.map(() => 0);
  const queue: { state: number[]; moves: string[] }[] = [{ state: start, moves: [] }];
  const seen = new Set([start.join()]);
  for (const { state, moves } of queue) {
    if (state.includes(target)) return moves;
    for (const [next, move] of neighbours(state, capacities)) {
      if (seen.has(next.join())) continue;
      seen.add(next.join());
      queue.push({ state: next, moves: [...moves, move] });
    }
  }
  return undefined;
}

function* neighbours(state: readonly number[], capacities: readonly number[]): Generator<[number[], string]> {
  for (const [jug, capacity] of capacities.entries()) {
    yield [state.with(jug, capacity), `fill ${label(jug)}`];
    yield [state.with(jug, 0), `empty ${label(jug)}`];
    for (const [other, room] of capacities.entries()) {
      if (other === jug) continue;
      const amount = Math.min(state[jug] ?? 0, room - (state[other] ?? 0));
      const next = state.with(jug, (state[jug] ?? 0) - amount).with(other, (state[other] ?? 0) + amount);
      yield [next, `pour ${label(jug)}->${label(other)}`];
    }
  }
}

/** Measuring an amount of water with jugs of other sizes. */
export const waterJugs = defineGenerator<Jugs>({
  task: "jugs",
  draw: (random, level) => {
    for (;;) {
      const jug_capacities = times(level === 1 ? 2 : 3, () => random.int(3, 4 + 4 * level));
      const target = random.int(1, Math.max(...jug_capacities) - 1);
      // Filling a single jug must not be the solution.
      if ((pourJugs(jug_capacities, target)?.length ?? 0) < 3 + level) continue;
      const sizes = jug_capacities
        .map((capacity, jug) => `${label(jug)} holds ${capacity} litres`)
        .join(", ");
      const question =
        `You have empty jugs without marks: ${sizes}. You can fill a jug, empty it, or pour from one into another until the ` +
        `first is empty or the second full. Get exactly ${target} litres into one of them.\n` +
        `Answer with a JSON list of moves such as ["fill A", "pour A->B", "empty B"].`;
      return { question, metadata: { puzzle: { jug_capacities, target } } };
    }
  },
  solve: ({ puzzle }) =>
    JSON.stringify(pourJugs(puzzle.jug_capacities, puzzle.target) ?? []).replaceAll('","', '", "'),
});
