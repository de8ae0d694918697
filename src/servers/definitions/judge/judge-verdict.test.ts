import { describe, expect, it } from "vitest";
import { z } from "zod";
import { growthOf } from "../../../testing/growth.ts";
import { stripThinking, stripThinkPairs } from "../response-text.ts";
import { allLabels, firstLabel, jsonVerdict, lastLabel, letterGrade, statedGrade } from "./judge-verdict.ts";

describe("labels", () => {
  it("reads the first or the last label", () => {
    expect(firstLabel("[[A=B]] but [[A!=B]]", ["[[A!=B]]", "[[A=B]]"])).toBe("[[A=B]]");
    expect(firstLabel("INCORRECT", ["CORRECT", "INCORRECT"])).toBe("INCORRECT");
    expect(firstLabel("none", ["CORRECT"])).toBeNull();
    expect(lastLabel("[[YES]] no, [[NO]]", ["[[YES]]", "[[NO]]"])).toBe("[[NO]]");
    expect(lastLabel("It is INCORRECT", ["CORRECT", "INCORRECT"])).toBe("INCORRECT");
    expect(lastLabel("", ["[[YES]]"])).toBeNull();
    expect(allLabels("ABC AB, ABAB", ["", "AB", "ABC"])).toEqual(["ABC", "AB", "AB", "AB"]);
  });

  it("reads one-letter grades", () => {
    const letters = ["A", "B", "C"] as const;
    expect(letterGrade(" B ", letters)).toBe("B");
    expect(letterGrade("An answer\nC", letters)).toBe("C");
    expect(letterGrade("INCORRECT", letters)).toBe("C");
    expect(letterGrade("bad", letters)).toBeNull();
  });
});

describe("jsonVerdict", () => {
  const schema = z.object({ verdict: z.enum(["YES", "NO"]) });
  it("finds the object in a fence or between the outermost braces", () => {
    expect(jsonVerdict('ok ```json\n{"verdict": "YES"}\n``` {', schema)).toEqual({ verdict: "YES" });
    expect(jsonVerdict('I say {"verdict": "NO"}.', schema)).toEqual({ verdict: "NO" });
  });
  it("is null without an object that fits the schema", () => {
    for (const text of ["", "{", "{}", '{"verdict": "MAYBE"}', "} {", "```{"])
      expect(jsonVerdict(text, schema)).toBeNull();
  });
});

describe("think tags", () => {
  it("removes pairs and then everything before an unmatched closing tag", () => {
    expect(stripThinking("<think>a</think> b <thinking>c</thinking> d")).toBe("b  d");
    expect(stripThinking("lost </think> e </thinking> f")).toBe("f");
    expect(stripThinking("<think>open")).toBe("<think>open");
    expect(stripThinkPairs("<think>a</think> b")).toBe("b");
    expect(stripThinkPairs("a</think> b</think>")).toBe("b</think>");
    expect(stripThinkPairs("<thinking>x</thinking> ")).toBe("<thinking>x</thinking>");
  });
  it("takes linear time", async () => {
    for (const unit of ["<think>", "<think></thinking>"])
      expect(await growthOf((size) => stripThinking(unit.repeat(size)), 2_000)).toBeLessThan(1.6);
  });
});

it.each([
  ["A", "A"],
  ["Reasoning about A and B.\nC", "C"],
  ["Grade: B", "B"],
  ["**A** (correct)", "A"],
  ["As an AI, I cannot grade this.", null],
  ["CORRECT", null],
  ["It is B, not A.", null],
  ["I don't know", null],
  ["", null],
])("reads the grade that %j states as %j", (text, grade) => {
  expect(statedGrade(text, ["A", "B", "C"])).toBe(grade);
});
