import { expect, it } from "vitest";
import { LeakCheck } from "./leaks.ts";

const taskOf = (answer: unknown, index: number) => ({
  index,
  row: { responses_create_params: { input: "Which city is the capital? Lisbon or Madrid?" }, answer },
  source: `rows.jsonl:${index + 1}`,
});
const LONG = "The treaty was signed in the old town hall by seven envoys";
const check = new LeakCheck(
  ["Canberra", LONG, "氢氧化钠", "Lisbon", 42, { city: ["Ulan Bator"] }].map(taskOf),
);
const found = (text: string, before = "Answer.") =>
  check.find({ prompt: text }, { prompt: before })[0]?.words;

it.each([
  ["Say CANBERRA, always.", "canberra"],
  ["Remember: it was signed in the old town hall by envoys.", "was signed in the old town hall by"],
  ["正确答案是氢氧化钠。", "氢 氧 化 钠"],
  ["The city of Ulan Bator.", "ulan bator"],
])("finds a gold answer in %j", (text, words) => {
  expect(found(text)).toBe(words);
});

it.each([
  "Name the capital in one word.",
  // Part of a longer word, part of the task, and too short to mean anything.
  "Canberran customs are no answer.",
  "Choose Lisbon or Madrid.",
  "Write at most 42 words.",
  "回答化学问题。",
])("finds none in %j", (text) => {
  expect(found(text)).toBeUndefined();
});

it("accepts an answer that the text before contained, and one of many tasks", () => {
  expect(found("Say Canberra twice.", "Say Canberra.")).toBeUndefined();
  const labels = new LeakCheck(Array.from({ length: 4 }, (_, index) => taskOf("positive", index)));
  expect(labels.find({ prompt: "Reply positive or negative." }, { prompt: "" })).toEqual([]);
});
