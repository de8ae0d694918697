import { expect, it } from "vitest";
import { escapePattern, removeTagged } from "./tagged.ts";

it.each([
  ["a<think>b</think>c", "ac"],
  ["<THINK>b</Think>c<think>d</think>", "c"],
  ["<think>a<think>b</think>c", "c"],
  ["a</think>b<think>c", "a</think>b<think>c"],
  ["", ""],
])("removes the tagged parts of %j", (text, kept) => {
  expect(removeTagged(text, "<think>", "</think>")).toBe(kept);
});

it("takes patterns literally", () => {
  expect(removeTagged("a<|x>b<x|>c", "<|x>", "<x|>")).toBe("ac");
  expect(new RegExp(escapePattern("a.b[c]/-"), "u").test("a.b[c]/-")).toBe(true);
});
