import { MersenneTwister, pyRound } from "nemo-gym/python";
import type { Verdict } from "./verdict.ts";

/** The two verdicts of one task. */
export interface Game {
  candidateFirst: Verdict | null;
  baselineFirst: Verdict | null;
}

/** The candidate's result if it is the first answer, and how often the battle counts. */
const BATTLES: Readonly<Record<Verdict, readonly [result: number, weight: number]>> = {
  "A>>B": [1, 3],
  "A>B": [1, 1],
  "A=B": [0.5, 1],
  "B>A": [0, 1],
  "B>>A": [0, 3],
};

/**
 * The expected win rate against the baseline in percent, with the offsets of its 95 % interval. For two players the
 * Bradley-Terry model has a closed form: the share of points.
 */
export function arenaElo(games: readonly Game[], { rounds, seed }: { rounds: number; seed: number }) {
  const battles: number[] = [];
  let invalid = 0;
  for (const { candidateFirst, baselineFirst } of games) {
    for (const [verdict, isFirst] of [
      [candidateFirst, true],
      [baselineFirst, false],
    ] as const) {
      if (verdict === null) {
        invalid++;
        continue;
      }
      const [result, weight] = BATTLES[verdict];
      for (let copy = 0; copy < weight; copy++) battles.push(isFirst ? result : 1 - result);
    }
  }
  const score = battles.length > 0 ? pyRound(100 * mean(battles), 2) : 0;
  const [lower, upper] = interval(battles, rounds, seed) ?? [score, score];
  return {
    score,
    ci_lower: pyRound(lower - score, 2),
    ci_upper: pyRound(upper - score, 2),
    invalid_scores: invalid,
    n: games.length,
  };
}

/** Percentiles of the rating over resampled battles; undefined if all battles have the same winner. */
function interval(battles: readonly number[], rounds: number, seed: number): [number, number] | undefined {
  if (battles.every((result) => result === 1) || battles.every((result) => result === 0)) return undefined;
  const draw = drawer(battles.length, seed);
  const ratings: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const share = mean(battles.map(() => battles[draw()] ?? 0));
    // A sample with a single winner has no finite rating.
    if (share > 0 && share < 1) ratings.push(Math.log(share / (1 - share)));
  }
  if (ratings.length === 0) return undefined;
  ratings.sort((a, b) => a - b);
  const percent = (rating: number) => 100 / (1 + Math.exp(-rating));
  return [percent(quantile(ratings, 0.025)), percent(quantile(ratings, 0.975))];
}

/** Indices below `limit`, as NumPy's legacy generator draws them: masked bits, rejected if too large. */
function drawer(limit: number, seed: number): () => number {
  const twister = MersenneTwister.fromNumber(seed);
  const mask = 2 ** Math.ceil(Math.log2(limit)) - 1;
  return () => {
    if (mask === 0) return 0;
    for (;;) {
      const index = (twister.next() & mask) >>> 0;
      if (index < limit) return index;
    }
  };
}

function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const [low = 0, high = low] = sorted.slice(below, below + 2);
  return low + (high - low) * (position - below);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
