import { describe, expect, it } from "vitest";
import {
  bytesText,
  countLabel,
  estimateLabel,
  percentText,
  rateText,
  rewardMark,
  rewardText,
  secondsText,
} from "./format.ts";

describe("number formatting", () => {
  it("shortens rewards", () => {
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

  it("writes tiny and huge rewards with an exponent", () => {
    expect([1e-7, -1e-7, 0.0005, 1.2345678901234568e29, 999_999, 1e6, 1234.96].map(rewardText)).toEqual([
      "1e-7",
      "-1e-7",
      "0.0005",
      "1.23e29",
      "999999",
      "1e6",
      "1235",
    ]);
  });

  it("writes means with four decimals, unless they are huge", () => {
    expect(estimateLabel({ value: 0.5, low: 0, high: 1 / 3 })).toBe("0.5000 [0.0000, 0.3333]");
    expect(estimateLabel({ value: -2e20 / 3, low: null, high: null })).toBe("-6.67e19");
  });

  it("never shows 0 % or 100 % for a part", () => {
    expect(percentText(1, 3)).toBe("33.3 %");
    expect(percentText(9999, 10_000)).toBe("99.9 %");
    expect(percentText(1, 10_000)).toBe("<0.1 %");
    expect(percentText(0, 10)).toBe("0 %");
    expect(percentText(10, 10)).toBe("100 %");
    expect(percentText(0, 0)).toBe("–");
  });

  it("formats counts and sizes", () => {
    expect([countLabel(1, "row"), countLabel(1234, "row"), countLabel(2, "match", "matches")]).toEqual([
      "1 row",
      "1,234 rows",
      "2 matches",
    ]);
    expect([999, 1500, 25e6, 1.2e9].map(bytesText)).toEqual(["999 B", "1.5 kB", "25 MB", "1.2 GB"]);
  });

  it("formats durations", () => {
    expect([0, 0.0001, 0.25, 9.96, 59.7, 119.7, 240, 3599.9, 3600, 5430].map(secondsText)).toEqual([
      "0 s",
      "<1 ms",
      "250 ms",
      "10 s",
      "1 min",
      "2 min",
      "4 min",
      "1 h",
      "1 h",
      "1 h 31 min",
    ]);
  });

  it("writes slow rates per minute or hour", () => {
    expect(rateText(0.033, "rollouts")).toBe("2.0 rollouts/min");
    expect([55.26, 0.1, 0.033, 0.0005, 0].map((rate) => rateText(rate))).toEqual([
      "55.3/s",
      "0.1/s",
      "2.0/min",
      "1.8/h",
      "0.0/s",
    ]);
  });

  it("compares rewards with the threshold", () => {
    expect([1, 0.5, 0, -1, null].map((reward) => rewardMark(reward, 1))).toEqual([
      "pass",
      "part",
      "fail",
      "fail",
      "none",
    ]);
  });
});
