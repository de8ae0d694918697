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
    ["YES", "yes"],
    ["No\n", "NO"],
    ["0.30000000000000004", "0.3"],
    ["1000000.5", "1000000.9"],
    ["0.0000001", "0"],
    ["1 2.0000005", "1.0000005 2"],
    ["1e-400", "0"],
  ])("treats %j as equal to %j", (output, expected) => {
    expect(outputDifference(output, expected)).toBeUndefined();
  });

  it.each([
    ["3\nx", "3", /mismatched output length/],
    ["0.3001", "0.3", /output_line_idx=0/],
    ["1.000002", "1", /!=/],
    ["1e400", "1", /!=/],
    ["inf", "1e400", /!=/],
    ["2.0000001 x", "2 x", /!=/],
    ["1000000000", "1000000001", /!=/],
    ["50000000000000000", "50000000000000001", /!=/],
    ["NaN", "nan", /!=/],
    ["1, 2", "1,2", /!=/],
    ["1 2 3", "1 2", /!=/],
    ["YES YES", "yes yes", /!=/],
    ["yes.", "YES.", /!=/],
    ["Possible", "possible", /!=/],
  ])("distinguishes %j from %j", (output, expected, reason) => {
    expect(outputDifference(output, expected)).toMatch(reason);
  });

  it("takes time proportional to the text", () => {
    const zeros = `1${"0".repeat(2_000_000)}1`;
    expect(canonicalDecimal(`${zeros}e5`)).toBe(`${zeros}e5`);
    expect(canonicalDecimal("1e999999999999999999999999")).toBeUndefined();
  });
});
