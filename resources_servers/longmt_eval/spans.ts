/** A part of the source and the part of the translation that belongs to it; either may be empty. */
export interface AlignedPair {
  src: string;
  tgt: string;
}

export interface Span extends AlignedPair {
  comet_qe: number;
  /** Only the translation has it. */
  hallucinated: boolean;
  /** Only the source has it. */
  deleted: boolean;
}

/** The quality of each translation of a source. */
export type Estimate = (pairs: readonly AlignedPair[]) => Promise<readonly number[]>;

/** Scores aligned pairs. What only one side has scores 0; what neither has is left out. */
export async function scoreSpans(pairs: readonly AlignedPair[], estimate: Estimate): Promise<Span[]> {
  const kept = pairs.filter(({ src, tgt }) => src !== "" || tgt !== "");
  const complete = kept.filter(({ src, tgt }) => src !== "" && tgt !== "");
  const scores = complete.length === 0 ? [] : await estimate(complete);
  if (scores.length !== complete.length)
    throw new Error(`the scorer returned ${scores.length} scores for ${complete.length} pairs`);
  const scoreOf = new Map(complete.map((pair, index) => [pair, scores[index] ?? 0]));
  return kept.map((pair) => ({
    ...pair,
    comet_qe: scoreOf.get(pair) ?? 0,
    hallucinated: pair.src === "",
    deleted: pair.tgt === "",
  }));
}
