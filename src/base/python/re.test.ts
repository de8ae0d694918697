import { describe, expect, it } from "vitest";
import { compilePyRegex, RegexBudgetError, RegexSyntaxError } from "./re.ts";

const raw = String.raw;

/** Whole match and groups of every match. */
function all(pattern: string, text: string, flags = {}): (string | null)[][] {
  return Array.from(compilePyRegex(pattern, flags).finditer(text), (match) => [
    match.group(),
    ...match.groups(),
  ]);
}

describe("compilePyRegex", () => {
  it("searches, captures and names groups", () => {
    const match = compilePyRegex(raw`(?P<key>\w+)\s*=\s*(\d+)`).search("set size = 42;");
    expect([match?.group(), match?.group("key"), match?.group(2)]).toEqual(["size = 42", "size", "42"]);
    expect([match?.start, match?.end]).toEqual([4, 13]);
    expect(() => match?.group("nokey")).toThrow(RangeError);
  });

  it("matches the ends of text and lines like Python", () => {
    expect(all("a$", "a\n")).toEqual([["a"]]);
    expect(all(raw`a\Z`, "a\n")).toEqual([]);
    expect(all("^.", "x\ny", { multiline: true })).toEqual([["x"], ["y"]]);
    expect(all(".", "\r\n")).toEqual([["\r"]]);
  });

  it("counts code points and reads Unicode classes", () => {
    expect(all("^.$", "😀")).toEqual([["😀"]]);
    expect(all(raw`\d+`, "٣4")).toEqual([["٣4"]]);
    expect(all(raw`\d+`, "٣4", { ascii: true })).toEqual([["4"]]);
    expect(all(raw`\bé\b`, "é")).toEqual([["é"]]);
    expect(all("[😀-😂]", "😁x")).toEqual([["😁"]]);
  });

  it("ignores case like Python", () => {
    expect(all("[a-z]", "İıſK", { ignoreCase: true })).toHaveLength(4);
    expect(all("(?i)straße", "STRAẞE")).toEqual([["STRAẞE"]]);
    expect(all("(?i:A)b", "ab aB")).toEqual([["ab"]]);
    expect(all("σ", "ΣςΣ", { ignoreCase: true })).toHaveLength(3);
  });

  it("finds empty matches next to others", () => {
    expect(all("a*", "baac")).toEqual([[""], ["aa"], [""], [""]]);
    expect(all("(a|b*)*", "")).toEqual([["", ""]]);
    expect(all("(a*?)+-", "aa-")).toEqual([["aa-", ""]]);
  });

  it.each([
    [raw`(?:aa{,2}){2}+`, "aaa", null],
    [raw`(?:aa{,2}){2}+`, "aaaa", [0, 4]],
    [raw`(?:a|ab){2}+c`, "abac", null],
    [raw`(?:(?:a|ab)){2,3}+b`, "abab", null],
    [raw`(?i)(σ)\1`, "σς", null],
    [raw`(?i)(σ)\1`, "σΣ", [0, 2]],
    [raw`(?i)(s)\1`, "sſ", null],
    [raw`(?i)σς`, "ΣΣ", [0, 2]],
  ])("matches %s in %s like CPython", (pattern, text, span) => {
    const match = compilePyRegex(pattern).search(text);
    expect(match && [match.start, match.end]).toEqual(span);
  });

  it("supports look-arounds, atomic groups, possessive loops, conditionals and backreferences", () => {
    expect(all(raw`(?<=\$)\d+(?!\.)`, "$12.5 $34")).toEqual([["1"], ["34"]]);
    expect(all("(?>a*)a", "aaa")).toEqual([]);
    expect(all("a*+b", "aab")).toEqual([["aab"]]);
    expect(all("(<)?x(?(1)>|!)", "<x> x! <x!")).toEqual([
      ["<x>", "<"],
      ["x!", null],
      ["x!", null],
    ]);
    expect(all(raw`(?i)(\w)\1`, "aA bb")).toEqual([
      ["aA", "a"],
      ["bb", "b"],
    ]);
    expect(all("(?P<q>['\"]).*?(?P=q)", "'a' \"b'")).toEqual([["'a'", "'"]]);
  });

  it("reads verbose patterns and comments", () => {
    expect(all("a # first\n b", "ab", { verbose: true })).toEqual([["ab"]]);
    expect(all("a(?#note)+", "aa")).toEqual([["aa"]]);
  });

  it.each([
    "(",
    ")",
    "[",
    "*a",
    "a**",
    "a{2}{3}",
    "^*",
    raw`\p`,
    raw`\8`,
    "(?<n>a)",
    "(?P<1>a)",
    "(?P<n>a)(?P<n>b)",
    "[b-a]",
    "(?<=a*)b",
    raw`(\1)`,
    "a{3,2}",
    "a(?i)b",
    "(?i-a:b)",
    "(?",
    raw`\x4`,
    "(?P=no)",
    "(?(9)a)",
    raw`[\w-z]`,
    "(?z)a",
  ])("rejects %s", (pattern) => {
    expect(() => compilePyRegex(pattern)).toThrow(RegexSyntaxError);
  });

  it("replaces by function", () => {
    expect(compilePyRegex(raw`(\d+),(\d+)`).sub("1,234,567", (m) => `${m.group(1)}${m.group(2)}`)).toBe(
      "1234,567",
    );
  });
});

describe("bounded time", () => {
  const long = "a".repeat(500_000);

  it.each([
    ["(a+)+$", `${long}b`],
    ["(a*)*b", long],
    ["(?:a|a)*c", `${long.slice(0, 300_000)}b`],
    [".*.*.*x", long],
    ["a.*y|a", long.slice(0, 200_000)],
    [raw`(?=(a+)+b)a`, long],
    [raw`^(\w+\s?)*\$`, "ab ".repeat(200_000)],
    ["(?:a{0,50}){0,50}c", long.slice(0, 1000)],
  ])("%s over a long text", (pattern, text) => {
    Array.from(compilePyRegex(pattern).finditer(text));
  });

  it("stops if backreferences need too many steps", () => {
    const regex = compilePyRegex(raw`(a+)+\1+\1+\1+b`);
    expect(() => regex.search(long.slice(0, 2000))).toThrow(RegexBudgetError);
  });
});
