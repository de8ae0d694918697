import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchCalls } from "./match-batch.ts";

/** The maximum matching by exhaustive search. */
function largest(fits: boolean[][], from = 0, used = new Set<number>()): number {
  const row = fits[from];
  if (row === undefined) return 0;
  let best = largest(fits, from + 1, used);
  for (const [actual, fit] of row.entries()) {
    if (!fit || used.has(actual)) continue;
    best = Math.max(best, 1 + largest(fits, from + 1, new Set([...used, actual])));
  }
  return best;
}

describe("matchCalls", () => {
  it("changes earlier pairs to match more calls", () => {
    const fits = [
      [true, true, false],
      [true, false, false],
      [false, true, true],
    ];
    expect(matchCalls(fits)).toEqual([1, 0, 2]);
  });

  it("leaves the call with the most choices unmatched", () => {
    const fits = [
      [true, true, false],
      [true, false, false],
      [false, true, false],
    ];
    expect(matchCalls(fits)).toEqual([-1, 0, 1]);
  });

  it("finds the maximum number of pairs", () => {
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
      .chain(([rows, columns]) =>
        fc.array(fc.array(fc.boolean(), { minLength: columns, maxLength: columns }), {
          minLength: rows,
          maxLength: rows,
        }),
      );
    fc.assert(
      fc.property(matrix, (fits) => {
        const partners = matchCalls(fits);
        const taken = partners.filter((partner) => partner >= 0);
        expect(new Set(taken).size).toBe(taken.length);
        for (const [expected, actual] of partners.entries())
          if (actual >= 0) expect(fits[expected]?.[actual]).toBe(true);
        expect(taken.length).toBe(largest(fits));
      }),
      { numRuns: 300 },
    );
  });

  it("pairs hundreds of calls without deep recursion", () => {
    const size = 400;
    const fits = Array.from({ length: size }, (_, row) =>
      Array.from({ length: size }, (_, column) => column <= row),
    );
    expect(matchCalls(fits).every((partner) => partner >= 0)).toBe(true);
  });
});
