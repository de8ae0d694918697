import { PyFloat } from "nemo-gym/python";
import { FormatError, OpaqueValue } from "nemo-gym/verify";
import { describe, expect, it } from "vitest";
import { parseToml } from "./toml.ts";
import { parseXml } from "./xml.ts";

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

  it("limits nesting", () => {
    expect(() => parseToml(`a = ${"[".repeat(100_000)}`)).toThrow(FormatError);
  });
});
