import { createHash } from "node:crypto";
import type { JudgedRollout, Votes } from "./judged-run.ts";

/** Rollouts with equal verdict and votes: a random part of each kind is labelled. */
export interface QueueStratum {
  votes: Votes;
  accepts: boolean;
  rollouts: JudgedRollout[];
}

/** Labels show most where votes disagree. */
const WORTH: Readonly<Record<Votes, number>> = { split: 3, single: 1, unanimous: 1, none: 1 };
/** A stratum with fewer labels says almost nothing. */
const LEAST = 5;
const ORDER: readonly Votes[] = ["split", "single", "unanimous", "none"];

/** The strata of rollouts, those whose votes disagree first, each in its random order. */
export function strataOf(
  rollouts: readonly JudgedRollout[],
  threshold: number,
  seed: number,
): QueueStratum[] {
  return ORDER.flatMap((votes) =>
    [true, false].flatMap((accepts) => {
      const own = rollouts.filter(
        (rollout) => rollout.votes === votes && rollout.reward >= threshold === accepts,
      );
      return own.length === 0 ? [] : [{ votes, accepts, rollouts: inOrder(own, seed) }];
    }),
  );
}

/** A random order that depends only on the seed and the rollouts, so that a larger sample contains a smaller one. */
function inOrder(rollouts: readonly JudgedRollout[], seed: number): JudgedRollout[] {
  const keyOf = ({ task, rollout }: JudgedRollout) =>
    createHash("sha256").update(`${seed}:${task}:${rollout}`).digest("hex");
  return rollouts
    .map((rollout) => ({ rollout, key: keyOf(rollout) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ rollout }) => rollout);
}

/** The rollouts to label, those whose votes disagree first. Their order does not tell which of them the judge accepts. */
export function labelQueue(
  strata: readonly QueueStratum[],
  { sample, seed }: { sample: number; seed: number },
): JudgedRollout[] {
  const sizes = allocation(strata, sample);
  return ORDER.flatMap((votes) => {
    const own = strata.flatMap((stratum, place) =>
      stratum.votes === votes ? stratum.rollouts.slice(0, sizes[place]) : [],
    );
    return inOrder(own, seed);
  });
}

/** How many rollouts of each stratum are labelled: by their number and worth, but a few of each. */
export function allocation(strata: readonly QueueStratum[], sample: number): number[] {
  const sizes = strata.map(({ rollouts }) => Math.min(rollouts.length, LEAST));
  const left = () => sample - sizes.reduce((sum, size) => sum + size, 0);
  const weights = strata.map(({ rollouts, votes }) => rollouts.length * WORTH[votes]);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // The stratum that is furthest below its share gets the next one.
  for (let free = left(); free > 0; free--) {
    let best = -1;
    let bestGap = Number.NEGATIVE_INFINITY;
    for (const [place, { rollouts }] of strata.entries()) {
      const size = sizes[place] ?? 0;
      if (size >= rollouts.length) continue;
      const gap = ((weights[place] ?? 0) / total) * sample - size;
      if (gap > bestGap) [best, bestGap] = [place, gap];
    }
    if (best === -1) break;
    sizes[best] = (sizes[best] ?? 0) + 1;
  }
  return sizes;
}
