import { describe, expect, it } from "vitest";
import { bytesText, countText, percentText, rewardText, verdictOf } from "./format.ts";

describe("texts for numbers", () => {
  it("writes rewards short", () => {
    expect([1, 0, -1, 0.5, 1 / 3, 12345.678, null].map(rewardText)).toEqual([
      "1",
      "0",
      "-1",
      "0.5",
      "0.333",
      "12346",
      "–",
    ]);
  });

  it("never says all or nothing of a part", () => {
    expect(percentText(1, 3)).toBe("33.3 %");
    expect(percentText(9999, 10_000)).toBe("99.9 %");
    expect(percentText(1, 10_000)).toBe("<0.1 %");
    expect(percentText(0, 10)).toBe("0 %");
    expect(percentText(10, 10)).toBe("100 %");
    expect(percentText(0, 0)).toBe("–");
  });

  it("counts and measures", () => {
    expect([countText(1, "row"), countText(1234, "row"), countText(2, "match", "matches")]).toEqual([
      "1 row",
      "1,234 rows",
      "2 matches",
    ]);
    expect([999, 1500, 25e6, 1.2e9].map(bytesText)).toEqual(["999 B", "1.5 kB", "25 MB", "1.2 GB"]);
  });

  it("judges rewards by the threshold", () => {
    expect([1, 0.5, 0, -1, null].map((reward) => verdictOf(reward, 1))).toEqual([
      "pass",
      "part",
      "fail",
      "fail",
      "none",
    ]);
  });
});
