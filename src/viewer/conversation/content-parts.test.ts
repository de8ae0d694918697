import { describe, expect, it } from "vitest";
import { splitThoughts } from "./content-parts.ts";

const split = (text: string) =>
  splitThoughts({ type: "text", text }).map((part) => [part.type, "text" in part ? part.text : ""]);

describe("splitThoughts", () => {
  it.each([
    [
      "<think>\nhm\n</think>\n42",
      [
        ["thought", "hm"],
        ["text", "42"],
      ],
    ],
    [
      "\n\n  <think>hm</think>42",
      [
        ["thought", "hm"],
        ["text", "42"],
      ],
    ],
    // The chat template opened the tag.
    [
      "hm, so\n</think>\n\n42",
      [
        ["thought", "hm, so"],
        ["text", "42"],
      ],
    ],
    ["</think>42", [["text", "42"]]],
    // Thoughts between two parts of an answer.
    [
      "First.\n<thinking>hm</thinking>\nThen.\n<think>so</think>",
      [
        ["text", "First."],
        ["thought", "hm"],
        ["text", "Then."],
        ["thought", "so"],
      ],
    ],
    // The token limit ended the thoughts.
    ["<think>hm, and so", [["thought", "hm, and so"]]],
    ["<think></think>", []],
  ])("splits %j", (text, parts) => {
    expect(split(text)).toEqual(parts);
  });

  it.each([
    "Write `<think>` and then `</think>`.",
    "The tag <think> opens thoughts.",
    "Between <think> and </think> stand thoughts.",
    "  indented\n",
    "",
  ])("does not split %j", (text) => {
    expect(split(text)).toEqual([["text", text]]);
  });

  it("runs in linear time", () => {
    const text = "<think>\n".repeat(20_000);
    expect(split(text)).toHaveLength(1);
  });
});
