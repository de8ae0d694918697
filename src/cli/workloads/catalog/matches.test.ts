import { describe, expect, it } from "vitest";
import { matching } from "./matches.ts";

const search = (query: string, ...entries: (string | undefined)[]) =>
  matching(query, entries, (entry) => [undefined, "", entry]);

describe("matching", () => {
  it("finds parts of fields, whatever their case is and how words are joined", () => {
    expect(search("MATH", "math_with_judge", "mcqa")).toEqual(["math_with_judge"]);
    expect(search("dge", undefined, "math_with_judge")).toEqual(["math_with_judge"]);
    expect(search("multi-turn", "example_multi_turn", "multi turn games")).toHaveLength(2);
  });

  it("accepts small misspellings of a field or a word", () => {
    expect(search("wether", "example_mcp_weather")).toHaveLength(1);
    expect(search("instruction folowing", "instruction_following")).toHaveLength(1);
    expect(search("gsm", "aime")).toEqual([]);
  });

  it("leaves out what is only similar if something contains the query", () => {
    expect(search("wordle", "the words of a text", "wordle")).toEqual(["wordle"]);
    expect(search("wordel", "the words of a text", "wordle")).toHaveLength(2);
  });
});
