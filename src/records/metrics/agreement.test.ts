import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  cohenKappa,
  gwetAC1,
  gwetAC1OfUnits,
  krippendorffAlpha,
  krippendorffAlphaOfTable,
  type Rating,
} from "./agreement.ts";

/** Ratings of our own with the results of PyPI krippendorff 0.9.0 and irrCAC 0.4.4. */
const vectors = JSON.parse(readFileSync(new URL("./testdata/agreement.json", import.meta.url), "utf8")) as {
  name: string;
  units: Rating[][];
  krippendorff_alpha: number;
  irrcac_alpha: number;
  irrcac_ac1: number;
  irrcac_kappa: number | null;
}[];

function tableOf(units: readonly Rating[][]): number[][] {
  const categories = [...new Set(units.flat())].sort();
  return categories.map((first) =>
    categories.map((second) => units.filter(([a, b]) => a === first && b === second).length),
  );
}

describe.each(vectors)("$name", ({ units, ...known }) => {
  it("has the alpha of both packages", () => {
    const { value } = krippendorffAlpha(units);
    expect(Math.abs((value ?? Number.NaN) - known.krippendorff_alpha)).toBeLessThan(1e-9);
    // Krippendorff's alpha of irrCAC corrects the observed agreement for the number of ratings, as the other package does.
    expect(Math.abs((value ?? Number.NaN) - known.irrcac_alpha)).toBeLessThan(1e-9);
  });

  it("has the AC1 of irrCAC", () => {
    const { value } = gwetAC1OfUnits(units);
    expect(Math.abs((value ?? Number.NaN) - known.irrcac_ac1)).toBeLessThan(1e-9);
  });

  it.skipIf(known.irrcac_kappa === null)("has the kappa, alpha and AC1 of its table", () => {
    const table = tableOf(units);
    expect(Math.abs((cohenKappa(table).value ?? Number.NaN) - Number(known.irrcac_kappa))).toBeLessThan(1e-9);
    expect(
      Math.abs((krippendorffAlphaOfTable(table).value ?? Number.NaN) - known.krippendorff_alpha),
    ).toBeLessThan(1e-9);
    expect(Math.abs((gwetAC1(table).value ?? Number.NaN) - known.irrcac_ac1)).toBeLessThan(1e-9);
  });
});

describe("agreement", () => {
  it("is not defined where all ratings are the same", () => {
    expect(
      cohenKappa([
        [5, 0],
        [0, 0],
      ]).value,
    ).toBeNull();
    expect(
      krippendorffAlpha([
        ["a", "a"],
        ["a", "a"],
      ]).value,
    ).toBeNull();
    expect(
      gwetAC1([
        [5, 0],
        [0, 0],
      ]).value,
    ).toBe(1);
  });

  it("is not defined without pairs", () => {
    expect(
      krippendorffAlpha([
        ["a", null],
        [null, "b"],
      ]).value,
    ).toBeNull();
    expect(gwetAC1OfUnits([]).value).toBeNull();
  });

  it("is the same for counts and shares", () => {
    const counts = [
      [40, 10],
      [5, 45],
    ];
    const shares = counts.map((row) => row.map((count) => count / 100));
    expect(cohenKappa(shares).value).toBeCloseTo(cohenKappa(counts).value ?? 0, 12);
  });
});
