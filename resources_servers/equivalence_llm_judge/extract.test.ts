import { describe, expect, it } from "vitest";
import { extractAnswer } from "./extract.ts";

describe("extractAnswer", () => {
  it.each([
    ["the last match wins", "((1)) ((2))", "\\(\\((.*?)\\)\\)", "2"],
    ["the first group that is not blank", "  q", "( )(q)", "q"],
    ["no group: the whole match", "foo bar foo", "foo", "foo"],
    ["dots cross lines", "<a>line1\nline2</a>", "<a>(.*)</a>", "line1\nline2"],
    ["Python syntax", "the ANSWER IS blue", "(?i)answer is (?P<x>\\w+)", "blue"],
    ["no match: the text", "abc", "x", "abc"],
    ["no valid pattern: the text", "abc", "([", "abc"],
    ["no pattern: the text", "abc", null, "abc"],
  ])("%s", (_name, text, pattern, expected) => {
    expect(extractAnswer(text, pattern)).toBe(expected);
  });
});
