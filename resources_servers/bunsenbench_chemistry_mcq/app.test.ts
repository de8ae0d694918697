import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { boxes } from "./boxes.ts";
import { findChoice, goldLetter, optionsOf } from "./choices.ts";
import { comparableFormula } from "./formula.ts";
import { bunsenMetrics } from "./metrics.ts";

const options: Record<string, string | null>[] = [
  { A: "H2O" },
  { B: "CO₂" },
  { C: "Na<sub>2</sub>" },
  { D: null },
];

async function verify(
  text: string,
  row: Record<string, unknown> = {},
  response: Record<string, unknown> = {},
) {
  const server = await createTestServer(definition);
  const body = verifyBody({ options, expected_answer: "B", ...row }, messageItem(text));
  return server.verify({ ...body, response: Object.assign(body["response"] as object, response) });
}

describe("bunsenbench_chemistry_mcq", () => {
  it.each([
    ["Answer: CO2", 1, "correct"],
    ["Answer: A", 0, "wrong_answer"],
    ["<choice>xyz</choice>", 0, "malformed_choice"],
    ["I cannot say.", 0, "refusal"],
    ["<think>Perhaps", 0, "early_termination"],
    ["no idea", 0, "format_violation"],
  ])("rewards %j with %d (%s)", async (text, reward, error_mode) => {
    const metadata = { bunsen_id: "b1", source: "s" };
    const { body } = await verify(text, { metadata, bct_field: "organic" });
    expect(body).toMatchObject({ reward, error_mode, bunsen_id: "b1", source: "s", bct_field: "organic" });
    expect(body["no_answer"]).toBe(body["extracted_answer"] === null);
  });

  it("recognizes an answer that was cut off", async () => {
    const { body } = await verify("Let me", {}, { status: "incomplete" });
    expect(body["error_mode"]).toBe("early_termination");
  });

  it("reports metrics of each source and field, and the kinds of errors", () => {
    const result = (error_mode: string) => [
      { reward: Number(error_mode === "correct"), extracted_answer: "B", error_mode, source: "a/b c" },
    ];
    const metrics = bunsenMetrics.compute?.([result("correct"), result("refusal")]) ?? {};
    expect(metrics).toMatchObject({
      "by_source/a__b_c/pass@1/accuracy": 50,
      "error_modes/refusal": 50,
      "error_modes/refusal/count": 1,
      "error_modes/wrong_answer": 0,
    });
    expect(bunsenMetrics.key?.(metrics)).toMatchObject({ "pass@1/accuracy": 50, "error_modes/correct": 50 });
  });
});

describe("findChoice", () => {
  const known = optionsOf({ options });
  it.each([
    ["Answer: A\nAnswer: B", "B"],
    ["\\boxed{A} and then the answer is B", "B"],
    ["**Answer:** b", "B"],
    ["- **Answer**: (B).", "B"],
    ["I select option B because of A", "B"],
    ["\\boxed{\\text{B}}", "B"],
    ["<choices><choice>H2O</choice></choices><choice>CO2</choice>", "B"],
    ["<answer>Na<sub>2</sub></answer>", "C"],
    ["<answer> <choice>A</choice>", "A"],
    ["Answer: A or B", undefined],
    ["Answer: E", undefined],
    ["Answer: D", undefined],
    ["Answer: co2", undefined],
    ["Long text\nB.", "B"],
    ["B\nlong text", "B"],
  ])("%j", (text, letter) => {
    expect(findChoice(text, known, new Set(known.keys()))).toBe(letter);
  });

  it.each([
    ["(b)", "B"],
    ["\\boxed{B}", "B"],
    ["CO2", "B"],
    ["E", "E"],
    ["", ""],
  ])("reads the expected answer %j", (expected, letter) => {
    expect(goldLetter(expected, known)).toBe(letter);
  });
});

it("reads choices without letters and with them", () => {
  const choices = ["x", { label: "c", content: "y" }, { id: "long", text: "z" }];
  expect([...optionsOf({ choices })]).toEqual([
    ["A", "x"],
    ["C", "z"],
  ]);
  expect([...optionsOf({ choices: choices.slice(0, 2) })].at(1)).toEqual(["C", "y"]);
});

it.each([
  ["CO₂", "CO2"],
  ["CH₃–CH₂–OH", "CH3-CH2-OH"],
  ["&alpha;&#45;&Delta;  x&lt;", "α-Δ x<"],
  ["a\u{200b}b", "ab"],
  ["&unknown;", "&unknown;"],
])("compares %j as %j", (text, plain) => {
  expect(comparableFormula(text)).toBe(plain);
});

it("finds boxes with braces inside", () => {
  expect(boxes("\\boxed {a{b}\\}} \\boxed{c")).toEqual([{ start: 0, text: "a{b}\\}" }]);
});
