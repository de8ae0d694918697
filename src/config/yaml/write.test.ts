import { describe, expect, it } from "vitest";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { literalText, type Origin } from "../node.ts";
import { nodeFromPlain, plainFromNode } from "../plain-data.ts";
import { readYamlValue } from "./read.ts";
import { writeYaml } from "./write.ts";

const source = { kind: "file", name: "x" } as const;
const origin: Origin = { source, line: 1, column: 1 };
const write = (value: unknown) => writeYaml(nodeFromPlain(value, origin));

describe("writeYaml", () => {
  it("uses block style with list dashes at the parent's column", () => {
    expect(write({ a: { b: [1, { c: 2, d: [3] }], e: [] }, f: {}, g: [[1, 2], []] })).toBe(
      "a:\n  b:\n  - 1\n  - c: 2\n    d:\n    - 3\n  e: []\nf: {}\ng:\n- - 1\n  - 2\n- []\n",
    );
  });

  it.each([
    ["yes", "'yes'"],
    ["y", "'y'"],
    ["12", "'12'"],
    ["1e3", "'1e3'"],
    ["1_000", "'1_000'"],
    [".5", "'.5'"],
    ["12:30", "'12:30'"],
    ["2024-05-06", "'2024-05-06'"],
    ["null", "'null'"],
    ["", "''"],
    [" x", "' x'"],
    ["a: b", "'a: b'"],
    ["a:b", "a:b"],
    ["x #y", "'x #y'"],
    ["=", "'='"],
    ["-", "'-'"],
    ["-x", "-x"],
    ["****", "'****'"],
    ["it's", "it's"],
    ["'q'", "'''q'''"],
    ["tab\there", '"tab\\there"'],
    ["two\nlines", "'two\n\n  lines'"],
    ["Zoë 日本 🎉", "Zoë 日本 🎉"],
    ["\u2028", '"\\L"'],
  ])("writes the text %j as %s", (text, written) => {
    expect(write({ k: text })).toBe(`k: ${written}\n`);
  });

  it.each([
    [new PyFloat(1), "1.0"],
    [0.000001, "1.0e-06"],
    [new PyFloat(1e20), "1.0e+20"],
    [Number.POSITIVE_INFINITY, ".inf"],
    [Number.NaN, ".nan"],
    [-0.5, "-0.5"],
    [12345678901234567890n, "12345678901234567890"],
    [null, "null"],
    [true, "true"],
  ])("writes the value %s as %s", (value, written) => {
    expect(write({ k: value })).toBe(`k: ${written}\n`);
  });

  it("folds long text at 80 columns", () => {
    const text = "word ".repeat(30).trim();
    const written = write({ key: text });
    expect(written.split("\n").map((line) => line.length)).toEqual([84, 71, 0]);
    expect(plainFromNode(readYamlValue(written, source))).toEqual({ key: text });
  });

  it("escapes a literal interpolation", () => {
    const node = nodeFromPlain({ a: "x" }, origin);
    if (node.kind === "dict") node.entries.set("a", literalText("costs ${5} and \\${6}", origin));
    expect(writeYaml(node)).toBe("a: costs \\${5} and \\\\\\${6}\n");
  });

  it.each(["", "a\nb", "k".repeat(200)])("writes the key %j so that it reads back", (key) => {
    const value = { [key]: { a: 1, b: [1, 2] }, next: 1 };
    expect(plainFromNode(readYamlValue(write(value), source))).toEqual(value);
  });
});
