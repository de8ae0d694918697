import { lastLabel } from "nemo-gym/verify";

const VERDICTS = ["[[A>>B]]", "[[A>B]]", "[[A=B]]", "[[B>A]]", "[[B>>A]]", "[[BB]]"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The points of the first answer. */
const POINTS: Record<Verdict, number> = {
  "[[A>>B]]": 1,
  "[[A>B]]": 1,
  "[[A=B]]": 0.5,
  "[[BB]]": 0.5,
  "[[B>A]]": 0,
  "[[B>>A]]": 0,
};

/** The last verdict of a text. */
export const readVerdict = (text: string): Verdict | null => lastLabel(text, VERDICTS);

/** The points of the policy in one game, as often as its verdict counts. Without a verdict it has none. */
export function pointsOf(verdict: Verdict | null, isFirst: boolean, weight: number): number[] {
  if (verdict === null) return [0];
  const points = isFirst ? POINTS[verdict] : 1 - POINTS[verdict];
  return Array.from({ length: verdict.includes(">>") ? weight : 1 }, () => points);
}

/** The mean of both games: with the policy as the first answer and as the second. */
export function rewardOf(policyFirst: Verdict | null, baselineFirst: Verdict | null, weight: number): number {
  const points = [...pointsOf(policyFirst, true, weight), ...pointsOf(baselineFirst, false, weight)];
  return points.reduce((sum, point) => sum + point, 0) / points.length;
}
