import { describe, expect, it } from "vitest";
import { conversationOf } from "./conversation.ts";
import { callUsages, timelineOf } from "./timeline.ts";
import { verdictOf } from "./verdict.ts";

const call = (id: string, name: string) => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: '{"a":1}',
});
const output = (id: string, text: string) => ({ type: "function_call_output", call_id: id, output: text });
const said = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const row = (items: unknown[], input: unknown = "hello") => ({
  responses_create_params: { input },
  response: { output: items },
});

describe("conversationOf", () => {
  it("pairs calls with their outputs in any order", () => {
    const items = conversationOf(
      row([call("1", "a"), call("2", "b"), output("2", "two"), output("1", "one"), said("done")]),
    );
    expect(items.map(({ kind, title, turn, place }) => [kind, title, turn, place])).toEqual([
      ["user", "User", 0, 0],
      ["call", "a", 1, 1],
      ["call", "b", 1, 2],
      ["assistant", "Assistant", 2, 5],
    ]);
    expect(items[1]?.output).toMatchObject({ place: 4, parts: [{ type: "output", text: "one" }] });
    expect(items[2]?.output).toMatchObject({ place: 3, parts: [{ text: "two" }] });
    expect(items[1]?.parts).toMatchObject([{ type: "json", value: { a: 1 } }]);
  });

  it("shows outputs without a call and calls without output", () => {
    const items = conversationOf(row([output("9", "lost"), call("1", "a")]));
    expect(items.map(({ title }) => title)).toEqual(["User", "Output without a call", "a"]);
    expect(items[2]?.output).toBeUndefined();
  });

  it("splits thoughts from assistant messages only", () => {
    const items = conversationOf(row([said("<think>\nhm\n</think>\n42")], "<think>not mine</think>"));
    expect(items.map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "<think>not mine</think>" }],
      [
        { type: "thought", text: "hm" },
        { type: "text", text: "42" },
      ],
    ]);
  });

  it("shows items of any other type", () => {
    const items = conversationOf(
      row([null, 5, { type: "web_search_call", id: "w" }, { type: "reasoning", summary: [] }]),
    );
    expect(items.map(({ kind, title }) => [kind, title])).toEqual([
      ["user", "User"],
      ["item", "Item"],
      ["item", "Item"],
      ["item", "web_search_call"],
      ["reasoning", "Reasoning"],
    ]);
    expect(conversationOf({})).toEqual([]);
    expect(conversationOf({ response: "x", responses_create_params: [] })).toEqual([]);
  });
});

describe("verdictOf", () => {
  it("assigns the fields to the parts of the verdict", () => {
    const verdict = verdictOf({
      reward: 0.5,
      accuracy: 0.25,
      is_correct: true,
      extracted_answer: "41",
      expected_answer: "42",
      judge_evaluations: [{ verdict: "no" }],
      reward_components: { format: 1 },
      question: "6*7?",
      _ng_task_index: 1,
      response: {},
    });
    expect(verdict).toEqual({
      reward: 0.5,
      components: [
        { name: "accuracy", value: 0.25 },
        { name: "is_correct", value: true },
        { name: "format", value: 1 },
      ],
      extracted: { name: "extracted_answer", value: "41" },
      expected: { name: "expected_answer", value: "42" },
      judge: [{ name: "judge_evaluations", value: [{ verdict: "no" }] }],
      others: [{ name: "question", value: "6*7?" }],
    });
  });
});

describe("timelineOf", () => {
  const trajectory = {
    model_calls: [
      {
        model_call_id: "m1",
        started_at: 100,
        completed_at: 101,
        response: { model: "m", usage: { output_tokens: 3 } },
      },
      { model_call_id: "m2", started_at: 103, completed_at: 104 },
    ],
    tool_calls: [{ tool_name: "shell", tool_call_id: "c", started_at: 101, duration_ms: 500 }],
  };

  it("returns spans for calls, tools and the time in between", () => {
    expect(timelineOf({ ng_trajectory: trajectory }).map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["model", 0, 1],
      ["tool", 1, 1.5],
      ["other", 1.5, 3],
      ["model", 3, 4],
    ]);
    expect(timelineOf({})).toEqual([]);
  });

  it("merges bodies of the trajectory with tokens of the capture", () => {
    const capture = { calls: [{ model_call_id: "m2", tokens_in: 9, latency_ms: 1000, status_code: 500 }] };
    expect(callUsages({ ng_trajectory: trajectory, ng_model_call_capture: capture })).toMatchObject([
      { call: 0, model: "m", outputTokens: 3 },
      { call: 1, inputTokens: 9, seconds: 1, status: "500" },
    ]);
  });
});
