import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exactCos, exactExp, exactLog, exactPow, exactSin } from "./exact-math.ts";

/** `[...arguments, result]`; the results were computed with 4000 bits by an independent library. */
type Vectors = Record<string, [...number[], number | "inf"][]>;
const vectors: Vectors = JSON.parse(
  readFileSync(new URL("testdata/exact-math.json", import.meta.url), "utf8"),
);
const functions: Record<string, (x: number, y: number) => number> = {
  sin: exactSin,
  cos: exactCos,
  exp: exactExp,
  log: exactLog,
  pow: exactPow,
};

describe("correctly rounded functions", () => {
  for (const [name, compute] of Object.entries(functions)) {
    it(`${name} agrees with the vectors bit for bit`, () => {
      const rows = vectors[name] ?? [];
      expect(rows.length).toBeGreaterThan(50);
      for (const row of rows) {
        const [x = 0, y = 0] = row.slice(0, -1) as number[];
        const wanted = row.at(-1) === "inf" ? Number.POSITIVE_INFINITY : row.at(-1);
        expect([x, y, compute(x, y)]).toEqual([x, y, wanted]);
      }
    });
  }

  it("differs from Math by at most one unit in the last place", () => {
    let state = 12345;
    const random = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state / 0x7fffffff;
    };
    for (let i = 0; i < 300; i++) {
      const x = random() * 40;
      const y = random() * 10 - 5;
      for (const [exact, native] of [
        [exactSin(x), Math.sin(x)],
        [exactCos(x), Math.cos(x)],
        [exactLog(x), Math.log(x)],
        [exactExp(y), Math.exp(y)],
        [exactPow(x, y), x ** y],
      ] as const) {
        expect(Math.abs(exact - native)).toBeLessThanOrEqual(Math.abs(exact) * 2 ** -52);
      }
    }
  });

  it("keeps special values", () => {
    expect(exactSin(-0)).toBe(-0);
    expect(exactSin(Number.POSITIVE_INFINITY)).toBeNaN();
    expect(exactCos(Number.NaN)).toBeNaN();
    expect(exactCos(0)).toBe(1);
    expect(exactLog(1)).toBe(0);
    expect(exactLog(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(exactLog(-1)).toBeNaN();
    expect(exactExp(1000)).toBe(Number.POSITIVE_INFINITY);
    expect(exactExp(Number.NEGATIVE_INFINITY)).toBe(0);
    expect(exactPow(1, Number.NaN)).toBe(1);
    expect(exactPow(Number.NaN, 0)).toBe(1);
    expect(exactPow(-1, Number.POSITIVE_INFINITY)).toBe(1);
    expect(exactPow(-2, 3)).toBe(-8);
    expect(exactPow(-2, 0.5)).toBeNaN();
    expect(exactPow(-0, -3)).toBe(Number.NEGATIVE_INFINITY);
    expect(exactPow(2, 1e300)).toBe(Number.POSITIVE_INFINITY);
    expect(exactPow(2, -1e300)).toBe(0);
    expect(exactPow(-3, 1e300)).toBe(Number.POSITIVE_INFINITY);
  });

  it("rounds powers that are exact or exactly between two doubles", () => {
    expect(exactPow(3, 34)).toBe(16677181699666568);
    expect(exactPow(94906267, 2)).toBe(9007199515875288);
    expect(exactPow(81, 0.25)).toBe(3);
    expect(exactPow(2, -1075)).toBe(0);
    expect(exactPow(0.0625, -1.75)).toBe(128);
  });
});
