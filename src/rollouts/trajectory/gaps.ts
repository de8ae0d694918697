/** Something that is known to be missing from what was recorded of a rollout. */
export interface Gap {
  code: string;
  invocation_id?: string;
  detail?: string;
}

/** The gaps without repetitions, in the order they were found. */
export function distinctGaps(gaps: readonly Gap[]): Gap[] {
  const seen = new Map<string, Gap>();
  for (const gap of gaps) {
    const key = JSON.stringify([gap.code, gap.invocation_id ?? null, gap.detail ?? null]);
    if (!seen.has(key)) seen.set(key, gap);
  }
  return [...seen.values()];
}
