import type { ChoiceOptions } from "nemo-gym/verify";
import { describe, expect, it } from "vitest";
import { findAnswer } from "./find-answer.ts";

const raw = String.raw;
const options: ChoiceOptions = [{ A: "Red light" }, { B: "Blue light" }, { C: "Green" }, { D: null }];

describe("strict_single_letter_boxed", () => {
  it.each([
    [raw`\boxed{B}`, "B"],
    [raw`\boxed{A} no \boxed{ \text{(B)} }`, "B"],
    [raw`\boxed{B: Blue light}`, "B"],
    [raw`\boxed{B - Blue light}`, "B"],
    [raw`\boxed{{B}}`, "B"],
    [raw`\boxed{b}`, undefined],
    [raw`\boxed{A, B}`, undefined],
    [raw`\boxed{D}`, undefined],
    [raw`\boxed{Blue light}`, undefined],
    [raw`\boxed{\mathbf{B}}`, undefined],
    [raw`\boxed{B} \boxed{`, undefined],
    ["B", undefined],
  ])("%s", (text, letter) => {
    expect(findAnswer(text, "strict_single_letter_boxed", options)).toBe(letter);
  });
});

describe("lenient_boxed", () => {
  it.each([
    [raw`\boxed{it is BLUE   light}`, "B"],
    [raw`\boxed{\text{green}}`, "C"],
    [raw`\boxed{red light or green}`, undefined],
    [raw`\boxed{none}`, undefined],
  ])("%s", (text, letter) => {
    expect(findAnswer(text, "lenient_boxed", options)).toBe(letter);
  });
});

describe("lenient_answer_colon", () => {
  it.each([
    ["ANSWER : b", "B"],
    ["Answer:\n\n blue  light", "B"],
    [raw`Answer: \text{C}`, "C"],
    ["Answer: A\nAnswer: B", "A"],
    ["Answer: B.", undefined],
    ["Answer:", undefined],
  ])("%j", (text, letter) => {
    expect(findAnswer(text, "lenient_answer_colon", options)).toBe(letter);
  });
});

describe("lenient_answer_colon_md", () => {
  it.each([
    ["**Answer**: _B_", "B"],
    ["Answer: A\nAnswer: B", "B"],
    ["Answer: B because A is wrong", "B"],
    ["Answer: the correct one is C", "C"],
    ["Answer: A or B", undefined],
    ["Answer: A/B", undefined],
    ["Answer: A or B\nAnswer: None", undefined],
    ["Answer: ب", "B"],
    ["Answer: B1", undefined],
    ["Answer: Z", undefined],
  ])("%j", (text, letter) => {
    expect(findAnswer(text, "lenient_answer_colon_md", options)).toBe(letter);
  });
});

describe("an answer prefix", () => {
  it.each([
    ["Réponse : B", "B"],
    ["réponse :B\nrest", "B"],
    ["Réponse : A\nAnswer: B", "B"],
    ["Answer: B\nRéponse : A", "A"],
    ["Re\u0301ponse : C", "C"],
    ["\\boxed{B}", "B"],
    ["Reponse : B", undefined],
  ])("%j", (text, letter) => {
    expect(findAnswer(text, "lenient_answer_colon_md", options, "Réponse :")).toBe(letter);
  });

  it("is a literal text", () => {
    expect(findAnswer("(x)* B", "lenient_answer_colon_md", options, "(x)*")).toBe("B");
    expect(findAnswer("\\boxed{B}", "lenient_answer_colon_md", options)).toBeUndefined();
  });

  it("reads full-width letters", () => {
    expect(findAnswer("Ａnswer： Ｂ", "lenient_answer_colon_md", options)).toBe("B");
  });
});
