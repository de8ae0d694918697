/** From "the first answer is much better" to "the second is". */
export const VERDICTS = ["A>>B", "A>B", "A=B", "B>A", "B>>A"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The verdict in double brackets; null without one, or if the judge names different ones. */
export function readVerdict(text: string): Verdict | null {
  const [verdict, ...others] = new Set([...text.matchAll(/\[\[([AB<>=]+)\]\]/g)].map(([, label]) => label));
  return others.length === 0 ? (VERDICTS.find((each) => each === verdict) ?? null) : null;
}
