import { describe, expect, it } from "vitest";
import { canonicalDecimal, outputDifference } from "./compare-output.ts";

describe("outputDifference", () => {
  it.each([
    ["3\n", "3"],
    ["  1\n2  \n\n", "1\n2"],
    ["3.10", "3.1"],
    ["1e-2 05", "0.01 +5"],
    ["1_000", "1000.0"],
    ["٣", "3"],
    ["inf -Infinity", "Infinity -inf"],
    ["-0", "0.00"],
    ["1 a", "1 a"],
  ])("treats %j as equal to %j", (output, expected) => {
    expect(outputDifference(output, expected)).toBeUndefined();
  });

  it.each([
    ["3\nx", "3", /mismatched output length/],
    ["0.30000000000000004", "0.3", /output_line_idx=0/],
    ["50000000000000000", "50000000000000001", /!=/],
    ["NaN", "nan", /!=/],
    ["1, 2", "1,2", /!=/],
    ["1 2 3", "1 2", /!=/],
    ["YES", "yes", /!=/],
  ])("distinguishes %j from %j", (output, expected, reason) => {
    expect(outputDifference(output, expected)).toMatch(reason);
  });

  it("takes time proportional to the text", () => {
    const zeros = `1${"0".repeat(2_000_000)}1`;
    expect(canonicalDecimal(`${zeros}e5`)).toBe(`${zeros}e5`);
    expect(canonicalDecimal("1e999999999999999999999999")).toBeUndefined();
  });
});
