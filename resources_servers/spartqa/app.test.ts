import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { extractAnswer } from "./extract-answer.ts";
import { candidateLabels, matchLabel } from "./labels.ts";
import { spartqaMetrics } from "./metrics.ts";

describe("spartqa", () => {
  it.each([
    ["Final answer: the red square", 1, true],
    ["Final answer: it is the red square", 1, false],
    ["Final answer: both", 0, false],
    ["", 0, false],
  ])("rewards %j with %d", async (text, reward, exact) => {
    const server = await createTestServer(definition);
    const row = { target: "the red square", options: ["the red square", "a blue circle"] };
    const inMetadata = { verifier_metadata: row };
    for (const given of [row, inMetadata]) {
      const { body } = await server.verify(verifyBody(given, messageItem(text)));
      expect(body).toMatchObject({ reward, exact, parsed: text !== "" });
    }
  });

  it("reports the accuracy of both and none", () => {
    const result = (target: string, reward: number) => [
      { target, reward, exact: false, parsed: true, predicted_label: "x" },
    ];
    const tasks = [result("both of them", 1), result("both of them", 0), result("x", 1)];
    expect(spartqaMetrics.compute?.(tasks)).toEqual({
      mean_reward: 2 / 3,
      count: 3,
      exact_match_rate: 0,
      parse_rate: 1,
      label_resolve_rate: 1,
      accuracy_both_of_them: 0.5,
    });
  });
});

it.each([
  ["Final answer: a\nFinal answer: b", "b"],
  ["**Final Answer**: `b`", "b"],
  ["Answer - b", "b"],
  ["The answer is b.", "b."],
  ["the selected option would be: b", "b"],
  ["Final answer: <candidate answer>\nAnswer: b", "b"],
  ["<think>Final answer: a</think>b", "b"],
  ["<|channel>thought a <channel|>- b", "b"],
  ["Analysis:\na\nb", "b"],
  ["a\nb", "a"],
  ["unanswer is x", "unanswer is x"],
])("extracts the answer of %j", (text, answer) => {
  expect(extractAnswer(text)).toBe(answer);
});

describe("matchLabel", () => {
  const labels = candidateLabels(["the red square", "the big red square"]);
  it.each([
    ["Red square!", "the red square"],
    ["it is the big red square", "the big red square"],
    ["neither", "none of them"],
    ["both objects", "both of them"],
    ["the red square and both of them", undefined],
    ["a circle", undefined],
    ["", undefined],
  ])("%j", (answer, label) => {
    expect(matchLabel(answer, labels)).toBe(label);
  });
});
