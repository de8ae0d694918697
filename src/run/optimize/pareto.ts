/** Mean reward of a candidate by task; a task whose rollouts failed has none. */
export type Scores = ReadonlyMap<number, number>;

/** The tasks that both candidates have a score for. */
function common(left: Scores, right: Scores): number[] {
  return [...left.keys()].filter((task) => right.has(task));
}

/** Mean over the tasks; undefined without one. */
export function meanScore(scores: Scores, tasks: Iterable<number> = scores.keys()): number | undefined {
  let sum = 0;
  let count = 0;
  for (const task of tasks) {
    const score = scores.get(task);
    if (score === undefined) continue;
    sum += score;
    count++;
  }
  return count === 0 ? undefined : sum / count;
}

/** Difference of the means over the tasks that both completed, so that failed rollouts favour nobody. */
export function pairedGain(before: Scores, after: Scores, tasks?: readonly number[]): number | undefined {
  const shared = common(before, after).filter((task) => tasks?.includes(task) ?? true);
  if (shared.length === 0) return undefined;
  return (meanScore(after, shared) ?? 0) - (meanScore(before, shared) ?? 0);
}

/** The candidates with the best score of each task. */
export function bestByTask(pool: ReadonlyMap<number, Scores>): Map<number, Set<number>> {
  const best = new Map<number, { score: number; candidates: Set<number> }>();
  for (const [candidate, scores] of pool)
    for (const [task, score] of scores) {
      const known = best.get(task);
      if (known === undefined || score > known.score)
        best.set(task, { score, candidates: new Set([candidate]) });
      else if (score === known.score) known.candidates.add(candidate);
    }
  return new Map([...best].map(([task, { candidates }]) => [task, candidates]));
}

/**
 * The candidates that are worth changing further, with the number of tasks that each leads. A candidate is dropped if
 * every task that it leads is also led by another one that stays: the weakest first, of equal ones the oldest, because the
 * later one was better on training tasks.
 */
export function paretoFront(pool: ReadonlyMap<number, Scores>): Map<number, number> {
  const leaders = [...bestByTask(pool).values()].map((candidates) => new Set(candidates));
  const weakestFirst = [...pool].sort(
    ([left, its], [right, other]) => (meanScore(its) ?? 0) - (meanScore(other) ?? 0) || left - right,
  );
  for (const [candidate] of weakestFirst)
    if (leaders.every((candidates) => !candidates.has(candidate) || candidates.size > 1))
      for (const candidates of leaders) candidates.delete(candidate);
  const front = new Map<number, number>();
  for (const candidates of leaders)
    for (const candidate of candidates) front.set(candidate, (front.get(candidate) ?? 0) + 1);
  return front;
}

/**
 * The candidate with the highest mean. Of several, the latest: each was better than its parent on training tasks. The
 * first one stays if no other is better. Only tasks that both completed count, so that failed rollouts favour nobody.
 */
export function bestCandidate(pool: ReadonlyMap<number, Scores>): number {
  const [[first, reference] = [0, new Map() as Scores]] = pool;
  let best = { candidate: first, gain: 0 };
  for (const [candidate, scores] of pool) {
    const gain = pairedGain(reference, scores) ?? Number.NEGATIVE_INFINITY;
    if (gain > 0 && gain >= best.gain) best = { candidate, gain };
  }
  return best.candidate;
}

/** One of the keys, with a chance in proportion to its weight. */
export function weightedChoice(weights: ReadonlyMap<number, number>, random: () => number): number {
  let left = random() * [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  let chosen = 0;
  for (const [key, weight] of weights) {
    chosen = key;
    left -= weight;
    if (left < 0) break;
  }
  return chosen;
}
