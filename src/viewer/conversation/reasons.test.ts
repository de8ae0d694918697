import { expect, it } from "vitest";
import { conversationOf } from "./conversation.ts";
import { reasonsOf } from "./reasons.ts";

const texts = (row: object, input = {}, output: object[] = []) =>
  reasonsOf(row as never, input as never, conversationOf({ response: { output } } as never)).map(
    ({ text }) => text,
  );

it("names the instructions that were not kept", () => {
  const input = { verifier_metadata: { instruction_id_list: ["no_commas", "two_words"] } };
  expect(texts({ follow_instruction_list: [true, false] }, input)).toEqual([
    "Instruction not kept: two_words",
  ]);
  expect(texts({ follow_instruction_list: [false] })).toEqual(["Instruction not kept: 1"]);
});

it("names the first test that failed, with what it returned", () => {
  const metadata = { error_message: "Wrong Answer", inputs: "1", output: "2", expected: "3" };
  const [reason] = reasonsOf({ result: [true, -2, true], metadata } as never, {}, []);
  expect(reason).toEqual({ text: "Test 2 of 3 failed: Wrong Answer", isGood: false, detail: metadata });
  expect(texts({ result: [true, true] })).toEqual(["All 2 tests passed"]);
  expect(texts({ result: "text" })).toEqual([]);
});

it("compares expected calls with those that were made, whatever the order of arguments", () => {
  const ground_truth = [
    { name: "send", arguments: '{"to": "a", "body": "b"}' },
    { name: "send", arguments: '{"to": "c"}' },
  ];
  const made = { type: "function_call", call_id: "1", name: "send", arguments: '{"body": "b", "to": "a"}' };
  expect(texts({}, { ground_truth }, [made])).toEqual([
    'Expected call made: send(body: "b", to: "a")',
    'Expected call not made: send(to: "c")',
  ]);
  expect(texts({}, { ground_truth: "42" })).toEqual([]);
});

it("says what a judge decided, and who it was", () => {
  const judge_evaluations = [{ verdict_label: "[[A!=B]]", response: { model: "judge-70b" } }, { other: 1 }];
  expect(texts({ judge_evaluations, failure_reason: "no verdict in the reply" })).toEqual([
    "judge-70b: [[A!=B]]",
    "no verdict in the reply",
  ]);
});
