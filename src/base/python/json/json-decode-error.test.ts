import { describe, expect, it } from "vitest";
import { jsonDecodeErrorRepr } from "./json-decode-error.ts";

describe("jsonDecodeErrorRepr", () => {
  // Each as CPython 3.11 prints repr(error) for the text.
  it.each([
    ["", "JSONDecodeError('Expecting value: line 1 column 1 (char 0)')"],
    ["{", "JSONDecodeError('Expecting property name enclosed in double quotes: line 1 column 2 (char 1)')"],
    ["[1,", "JSONDecodeError('Expecting value: line 1 column 4 (char 3)')"],
    ['{"a" 1}', "JSONDecodeError(\"Expecting ':' delimiter: line 1 column 6 (char 5)\")"],
    ['{"a": 1 "b"', "JSONDecodeError(\"Expecting ',' delimiter: line 1 column 9 (char 8)\")"],
    ['{"a": "b', "JSONDecodeError('Unterminated string starting at: line 1 column 7 (char 6)')"],
    ['"\\x"', "JSONDecodeError('Invalid \\\\escape: line 1 column 2 (char 1)')"],
    ['"\\u12', "JSONDecodeError('Invalid \\\\uXXXX escape: line 1 column 3 (char 2)')"],
    ['"a\nb"', "JSONDecodeError('Invalid control character at: line 1 column 3 (char 2)')"],
    ["{}\n x", "JSONDecodeError('Extra data: line 2 column 2 (char 4)')"],
    ['"😀" 1', "JSONDecodeError('Extra data: line 1 column 5 (char 4)')"],
    ["01", "JSONDecodeError('Extra data: line 1 column 2 (char 1)')"],
  ])("reports %j like Python", (text, repr) => {
    expect(jsonDecodeErrorRepr(text)).toBe(repr);
  });

  it.each(['{"a": [1, {}, [], null]}', " NaN ", "[-Infinity, Infinity]", '"\\ud83d"', "-0.5e+3"])(
    "accepts %s",
    (text) => {
      expect(jsonDecodeErrorRepr(text)).toBeUndefined();
    },
  );

  it("needs linear time and no stack for a megabyte of brackets", () => {
    expect(jsonDecodeErrorRepr("[".repeat(1_000_000))).toContain("Expecting value");
    expect(jsonDecodeErrorRepr(`"${"\\".repeat(1_000_001)}`)).toContain("Unterminated string");
  });
});
