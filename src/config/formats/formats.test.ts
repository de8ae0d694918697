import { describe, expect, it } from "vitest";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { parseCsv } from "./csv.ts";
import { FormatError } from "./errors.ts";
import { OpaqueValue } from "./mapping.ts";
import { parseYamlValue } from "./yaml.ts";

describe("parseCsv", () => {
  it("reads quotes, line breaks in cells and blank lines", () => {
    expect(parseCsv('a,b\r\n"x, ""y""","1\n2"\n\n3,4')).toEqual([
      { a: 'x, "y"', b: "1\n2" },
      { a: "3", b: "4" },
    ]);
    expect(parseCsv("just text")).toEqual([]);
  });

  it("fills missing cells, and keeps further ones under null", () => {
    expect(parseCsv("a,b\n1\n")).toEqual([{ a: "1", b: null }]);
    expect(parseCsv("a\n1,2,3\n")).toEqual([
      new Map<unknown, unknown>([
        ["a", "1"],
        [null, ["2", "3"]],
      ]),
    ]);
  });

  it.each(["a,b\r1,2\n", `a\n${"x".repeat(200_000)}`])("rejects the same texts as Python", (text) => {
    expect(() => parseCsv(text)).toThrow(FormatError);
  });
});

describe("parseYamlValue", () => {
  it.each([
    ["a: yes\nb: NO\nc: y\nd: on", { a: true, b: false, c: "y", d: true }],
    [
      "a: 010\nb: 0x1F\nc: 0b11\nd: 1_000\ne: 1:30\nf: 0o14",
      { a: 8, b: 31, c: 3, d: 1000, e: 90, f: "0o14" },
    ],
    ["a: 1e3\nb: 1.0e+3\nc: .5\nd: 1.", { a: "1e3", b: new PyFloat(1000), c: 0.5, d: new PyFloat(1) }],
    ["a: ~\nb:\nc: 'null'\nd: !!str 5", { a: null, b: null, c: "null", d: "5" }],
    ["a: 2024-01-02", { a: new OpaqueValue("date", "2024-01-02") }],
    ["a: &x {p: 1}\nb: {<<: *x, q: 2}", { a: { p: 1 }, b: { p: 1, q: 2 } }],
    ["a: 1\na: 2", { a: 2 }],
    ["1: x", new Map([[1, "x"]])],
    ["1: x\ntrue: y", new Map([[1, "y"]])],
    ["- |\n  a\n  b\n- >-\n  c\n  d", ["a\nb\n", "c d"]],
    ['{"a": [1, 2.0]}', { a: [1, new PyFloat(2)] }],
    ["", null],
  ])("reads %j", (text, value) => {
    expect(parseYamlValue(text)).toEqual(value);
  });

  it.each([
    "a: b: c",
    "a: =",
    "a:\tb",
    "\ta: 1",
    "@a",
    "`a`",
    "a: !foo x",
    "a: 1\n---\nb: 2",
    "a: *x",
    "? [1]\n: 2",
    "a: 2024-02-30",
    "a: <<",
    "a: &x 1\nb: &x 2",
    "<<: 5",
    "a: !!int x",
    "a: \u0007",
    "```yaml\na: 1\n```",
    "a: [1",
    "!!omap [1]",
  ])("rejects %j", (text) => {
    expect(() => parseYamlValue(text)).toThrow(FormatError);
  });

  it("limits the expansion of aliases, and nesting", () => {
    const bomb = [
      "a0: &a0 [x]",
      ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
    ];
    expect(() => parseYamlValue(bomb.join("\n"))).toThrow(FormatError);
    expect(() => parseYamlValue("[".repeat(100_000))).toThrow(FormatError);
  });
});
