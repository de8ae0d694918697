import { describe, expect, it } from "vitest";
import { PyFloat } from "../../python/numbers/py-float.ts";
import { OpaqueValue } from "../json-schema/values.ts";
import { parseCsv } from "./csv.ts";
import { FormatError } from "./format-error.ts";
import { parseToml } from "./toml.ts";
import { parseXml } from "./xml.ts";
import { parseYamlValue } from "./yaml.ts";

describe("parseCsv", () => {
  it("reads quotes, breaks in cells and blank lines", () => {
    expect(parseCsv('a,b\r\n"x, ""y""","1\n2"\n\n3,4')).toEqual([
      { a: 'x, "y"', b: "1\n2" },
      { a: "3", b: "4" },
    ]);
    expect(parseCsv("just text")).toEqual([]);
  });

  it("fills missing cells and keeps surplus ones under null", () => {
    expect(parseCsv("a,b\n1\n")).toEqual([{ a: "1", b: null }]);
    expect(parseCsv("a\n1,2,3\n")).toEqual([
      new Map<unknown, unknown>([
        ["a", "1"],
        [null, ["2", "3"]],
      ]),
    ]);
  });

  it.each(["a,b\r1,2\n", `a\n${"x".repeat(200_000)}`])("refuses what Python refuses", (text) => {
    expect(() => parseCsv(text)).toThrow(FormatError);
  });
});

describe("parseXml", () => {
  it("reads elements, attributes, repeated names and text as xmltodict does", () => {
    expect(
      parseXml('<?xml version="1.0"?><r a="1"> t <b/><b> 2 </b><c><![CDATA[<x>]]></c><!-- n --> u </r>'),
    ).toEqual({
      r: { "@a": "1", b: [null, "2"], c: "<x>", "#text": "t  u" },
    });
    expect(parseXml("<r>&lt;&#65;&#x42;&amp;</r>")).toEqual({ r: "<AB&" });
    expect(parseXml("<__proto__>1</__proto__>")).toHaveProperty(["__proto__"], "1");
  });

  it.each([
    "",
    "text",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<a/>x",
    "<a x=1/>",
    '<a x="1" x="2"/>',
    "<a>&nope;</a>",
    "<a>&</a>",
    "<a>\u0000</a>",
    ' <?xml version="1.0"?><a/>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    "<a><!-- -- --></a>",
    "<a>]]></a>",
    '<a b="<"/>',
    "<a>&#xD800;</a>",
    "```xml\n<a/>\n```",
  ])("refuses %j", (text) => {
    expect(() => parseXml(text)).toThrow(FormatError);
  });

  it("reads deep and wide documents without recursion", () => {
    const deep = parseXml(`${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}`);
    expect(Object.keys(deep)).toEqual(["a"]);
    expect((parseXml(`<r>${"<i/>".repeat(100_000)}</r>`)["r"] as { i: unknown[] }).i).toHaveLength(100_000);
  });
});

describe("parseToml", () => {
  it("reads tables, arrays of tables, dotted keys and inline tables", () => {
    expect(parseToml('a.b = 1\n[t]\nx = {p = [1, 2,], q.r = "s"}\n[[l]]\nn = 1\n[[l]]\n')).toEqual({
      a: { b: 1 },
      t: { x: { p: [1, 2], q: { r: "s" } } },
      l: [{ n: 1 }, {}],
    });
  });

  it("reads every kind of value", () => {
    const text =
      'h = 0xFF\nf = 1_000.0\nb = 123456789012345678901\ni = -inf\nd = 1979-05-27T07:32:00Z\nm = """a\\\n  b"""\nl = \'\'\'x\'y\'\'\'\nu = "\\u00e9"\n';
    expect(parseToml(text)).toEqual({
      h: 255,
      f: new PyFloat(1000),
      b: 123456789012345678901n,
      i: Number.NEGATIVE_INFINITY,
      d: new OpaqueValue("datetime", "1979-05-27T07:32:00Z"),
      m: "ab",
      l: "x'y",
      u: "é",
    });
  });

  it.each([
    "a = 1\na = 2",
    "[a]\n[a]",
    "a = {b = 1,}",
    "a = 01",
    "a = 1_",
    "a = [1 2]",
    "a.b = 1\n[a.b]",
    "a = 2024-02-30",
    'a = "\\x41"',
    "a = 'x",
    "= 1",
    "a",
    "a = 1 b = 2",
    "[a",
    "a = [1]\n[[a]]",
    "[[a]]\n[a]\nb = 1\n[a]",
    "a = nope",
    'a = "\u0007"',
    "# \u0000",
  ])("refuses %j", (text) => {
    expect(() => parseToml(text)).toThrow(FormatError);
  });

  it("bounds nesting", () => {
    expect(() => parseToml(`a = ${"[".repeat(100_000)}`)).toThrow(FormatError);
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
  ])("refuses %j", (text) => {
    expect(() => parseYamlValue(text)).toThrow(FormatError);
  });

  it("bounds what aliases expand to, and nesting", () => {
    const bomb = [
      "a0: &a0 [x]",
      ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
    ];
    expect(() => parseYamlValue(bomb.join("\n"))).toThrow(FormatError);
    expect(() => parseYamlValue("[".repeat(100_000))).toThrow(FormatError);
  });
});
