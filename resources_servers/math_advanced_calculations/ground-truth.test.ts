import { describe, expect, it } from "vitest";
import { containsAll, parseGroundTruth } from "./ground-truth.ts";

function scored(groundTruth: string, ...outputs: unknown[]): boolean {
  return containsAll(outputs, parseGroundTruth(groundTruth) ?? ["unreadable"]);
}

describe("ground truth", () => {
  it.each([
    ["[1.0]", '{"solution": true}'],
    ["[2.0]", '{"solution": " 2 "}'],
    ["[10.0]", '{"solution": "1_0"}'],
    ["[0.0]", '{"solution": -0.0}'],
    ["[NaN]", '{"solution": NaN}'],
    ["[null]", "not json"],
    ["[null]", '{"other": 1}'],
    ["[null]", '{"solution": [1]}'],
    ["[true]", '{"solution": 1}'],
    ["[2.0]", '{"solution": 1, "solution": 2}'],
    ["[9007199254740992]", '{"solution": 9007199254740993}'],
    ["[]", "anything"],
  ])("%s is contained in %s", (groundTruth, output) => {
    expect(scored(groundTruth, output)).toBe(true);
  });

  it.each([
    ["[1.0]", "not json"],
    ["[0.3]", '{"solution": 0.30000000000000004}'],
    ["[NaN]", '{"solution": "nan"}'],
    ['["1"]', '{"solution": 1}'],
    ['{"a": 1}', '{"solution": 1}'],
    ['"1"', '{"solution": 1}'],
    ["[[1]]", '{"solution": 1}'],
    ["[9007199254740993]", '{"solution": 9007199254740993}'],
    [`[1${"0".repeat(400)}]`, `{"solution": 1${"0".repeat(400)}}`],
  ])("%s is not contained in %s", (groundTruth, output) => {
    expect(scored(groundTruth, output)).toBe(false);
  });

  it("ignores repeated values and other outputs of the tools", () => {
    expect(scored("[1.0, 1.0]", '{"solution": 1}', '{"solution": 5}')).toBe(true);
  });

  it("refuses scalars and malformed text as ground truth", () => {
    for (const text of ["1", "1.0", "null", "true", "not json", "", "[1"])
      expect(parseGroundTruth(text)).toBeUndefined();
  });

  it("does not read results from parts of messages", () => {
    expect(scored("[1.0]", [{ type: "input_text", text: '{"solution": 1}' }])).toBe(false);
  });
});
