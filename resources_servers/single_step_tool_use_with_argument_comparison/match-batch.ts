/**
 * Matches as many expected calls as possible with distinct actual calls (maximum bipartite matching by augmenting paths).
 * Expected calls with fewer candidates come first, in their original order. Therefore the unmatched calls, and the reason given
 * for a wrong batch, do not depend on the order of the actual calls.
 *
 * @returns for every expected call the index of its actual call, or -1
 */
export function matchCalls(fits: readonly (readonly boolean[])[]): number[] {
  const actualCount = fits[0]?.length ?? 0;
  const ownerOf = new Array<number>(actualCount).fill(-1);
  const choices = fits.map((row) => row.filter(Boolean).length);
  const order = [...fits.keys()].sort((left, right) => (choices[left] ?? 0) - (choices[right] ?? 0));
  for (const expected of order) augment(expected, fits, ownerOf);
  const partners = new Array<number>(fits.length).fill(-1);
  for (const [actual, expected] of ownerOf.entries()) if (expected >= 0) partners[expected] = actual;
  return partners;
}

/** Breadth-first, so that hundreds of calls cannot exhaust the stack. */
function augment(start: number, fits: readonly (readonly boolean[])[], ownerOf: number[]): void {
  const reachedFrom = new Array<number>(ownerOf.length).fill(-1);
  const queue = [start];
  for (const expected of queue) {
    const row = fits[expected] ?? [];
    for (let actual = 0; actual < row.length; actual++) {
      if (!row[actual] || reachedFrom[actual] !== -1) continue;
      reachedFrom[actual] = expected;
      const owner = ownerOf[actual] ?? -1;
      if (owner === -1) {
        assignAlong(actual, start, reachedFrom, ownerOf);
        return;
      }
      queue.push(owner);
    }
  }
}

/** Flips the path: assigns each actual call on it to the expected call from which it was reached. */
function assignAlong(end: number, start: number, reachedFrom: readonly number[], ownerOf: number[]): void {
  for (let actual = end; ; ) {
    const expected = reachedFrom[actual] ?? start;
    const previous = ownerOf.indexOf(expected);
    ownerOf[actual] = expected;
    if (expected === start) return;
    actual = previous;
  }
}
