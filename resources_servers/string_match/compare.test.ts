import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { compareAnswers } from "./compare.ts";

const raw = String.raw;

describe("compareAnswers", () => {
  it.each([
    ["Paris", "paris", 1],
    ['"Paris"', "paris.", 1],
    ["ﬁne", "fine", 1],
    ["1000.0", "1e3", 1],
    ["1_000", "1000", 1],
    ["nan", "NaN", 1],
    ["$5", raw`\$5.0`, 1],
    ["1,234", "1234", 1],
    ["1,234,567", "1234567", 0.98],
    ["1,234,567 people", "1234567 people", 0],
    [raw`\textbf{Rome}`, raw`$\boxed{rome}$`, 1],
    [raw`\te\text{xt{a}`, "a", 1],
    ["red, green; blue", "red green blue", 1],
    ["red apples and green pears", "red apples, green pears", 1],
    ["a and b", "a, b", 0],
    ["New York", "NY", 1],
    ["Arkansas", "AR", 1],
    ["West Virginia", "wv", 1],
    ["12 cm", "12", 0.98],
    ["99.5", "100", 0.98],
    ["98", "100", 0],
    ["45°", "45", 0.98],
    ["x cm", "x m", 1],
    ["inf", "5", 0],
    ["Paris", "London", 0],
  ])("%s against %s", (answer, expected, reward) => {
    expect(compareAnswers(answer, expected, false)).toBe(reward);
  });

  it("only strips whitespace if case counts", () => {
    expect(compareAnswers(" K ", "K", true)).toBe(1);
    expect(compareAnswers("k", "K", true)).toBe(0);
    expect(compareAnswers("K.", "K", true)).toBe(0);
  });

  it.each([
    ["digits", (size: number) => "1".repeat(size)],
    ["commas", (size: number) => "1,".repeat(size)],
    ["commands", (size: number) => raw`\text{`.repeat(size)],
    ["closed commands", (size: number) => `${raw`\text{`.repeat(size)}${"}".repeat(size)}`],
    ["carets", (size: number) => "^{".repeat(size)],
  ])("takes linear time for %s", async (_name, text) => {
    const compare = (size: number) => expect(compareAnswers(text(size), "5", false)).toBe(0);
    expect(await growthOf(compare, 5_000)).toBeLessThan(1.6);
  });
});
