import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { answerAlternatives, unreliableReason } from "./alternatives.ts";
import definition from "./app.ts";
import { containsAnswer, containsAnswerStrictly } from "./contains-answer.ts";
import { hotpotqaMetrics } from "./metrics.ts";
import { parseAnswer } from "./parse-answer.ts";
import { exactMatch, tokenF1 } from "./squad.ts";

describe("hotpotqa_qa", () => {
  it.each([
    ['{"answer": "the Seine"}', 1],
    ["It is the Seine.", 1],
    ['{"answer": "Rhône"}', 0],
    ["", 0],
  ])("rewards %j with %d", async (text, reward) => {
    const server = await createTestServer(definition);
    const { body } = await server.verify(
      verifyBody({ expected_answer: "The Seine", id: 3 }, messageItem(text)),
    );
    expect(body).toMatchObject({ id: 3, reward, is_correct_strict: reward, gt_should_remove: false });
  });

  it("reports filtered metrics without unreliable tasks", () => {
    const task = (gt_should_remove: boolean, score: number) => [
      { gt_should_remove, extracted_answer: "x", is_correct: score, answer_em: score },
    ];
    const tasks = [task(false, 1), task(true, 0)];
    const { compute, key } = hotpotqaMetrics(true);
    const metrics = compute?.(tasks) ?? {};
    expect(metrics).toMatchObject({
      "pass@1/is_correct": 50,
      "filtered_pass@1/is_correct": 100,
      filtered_num_tasks: 1,
      unfiltered_num_tasks: 2,
    });
    expect(key?.(metrics)).toHaveProperty(["filtered_majority@1/is_correct"], 100);
    expect(hotpotqaMetrics(false).compute?.(tasks)).not.toHaveProperty("filtered_num_tasks");
  });
});

it.each([
  ['{"answer": "a"} then {"answer": "b"}', "b"],
  ['```json\n{"answer": "a"}\n``` {"answer": "b"}', "a"],
  ['{"x": {"answer": "a"}}', '{"x": {"answer": "a"}}'],
  ['{ {"answer": "a"}', '{ {"answer": "a"}'],
  ['{"answer": true}', "True"],
  ['{"answer": ["a", 1.0]}', "['a', 1.0]"],
  ['{"answer": 1e400}', "inf"],
  [" plain ", "plain"],
])("parses %j", (text, answer) => {
  expect(parseAnswer(text)).toBe(answer);
});

describe("answerAlternatives", () => {
  it.each([
    ["The Office (TV series)", ["The Office", "Office", "TV series"]],
    ["three", ["3"]],
    ["2nd", ["second"]],
    ["1,234,567", ["1234567"]],
    ["U.S.A.", ["USA"]],
    ["Foo-Bar", ["Foo Bar"]],
    ["Simon and Garfunkel", ["Simon & Garfunkel"]],
    ["“Help!”", ["Help!"]],
  ])("of %j include %j", (answer, forms) => {
    expect(answerAlternatives(answer)).toEqual(expect.arrayContaining([answer, ...forms]));
  });

  it("leave out short forms", () => {
    expect(answerAlternatives("a b")).toEqual(["a b"]);
    expect(answerAlternatives("")).toEqual([]);
  });
});

it.each([
  ["John Fitzgerald Kennedy", "multi_word_name"],
  ["Bank of England", ""],
  ["The Duke of York and Albany House", ""],
  ["Duke of York and Albany House", "multi_word_name"],
  ["x".repeat(41), "gt_too_long"],
  ["Paris", ""],
])("finds %j unreliable: %j", (answer, reason) => {
  expect(unreliableReason(answer)).toBe(reason);
});

it.each([
  ["the bin", "in", true, false],
  ["in a bin", "in", true, true],
  ["15", "5", true, false],
  ["a–b", "a-b", true, true],
  [`${"z".repeat(50)} Paris ${"z".repeat(50)}`, "Paris", true, false],
  [`Paris ${"z".repeat(90)}`, "Paris", true, true],
  ["Rome", "Paris", false, false],
])("in %j, %j is contained: %j, strictly: %j", (text, answer, contained, strictly) => {
  expect(containsAnswer(text, [answer])).toBe(contained);
  expect(containsAnswerStrictly(text, [answer])).toBe(strictly);
});

it.each([
  ["The cat.", "cat", true, 1],
  ["cat cat dog", "cat dog dog", false, 2 / 3],
  ["yes it is", "yes", false, 0],
  ["the", "a", true, 0],
])("compares %j with %j", (answer, expected, same, f1) => {
  expect(exactMatch(answer, expected)).toBe(same);
  expect(tokenF1(answer, expected)).toBeCloseTo(f1, 15);
});
