import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dumps, dumpsCompact, JsonWriteError } from "./json/json-dumps.ts";
import { JsonTextError, loads, loadsPlain } from "./json/json-loads.ts";
import { copyWith } from "./json/key-order.ts";
import { PyFloat, toPlainNumbers } from "./numbers/py-float.ts";

describe("loads and dumps", () => {
  it.each([
    '{"a": 1.0, "b": 1, "c": -0.0, "d": 0}',
    "[12345678901234567890123, -9007199254740993, 9007199254740991]",
    "[1e-07, 1e+16, 1.5, 100000.0, 0.0001, 1e+300]",
    '{"b": 1, "10": 2, "2": 3, "a": 4}',
    "[NaN, Infinity, -Infinity]",
    '{"__proto__": {"x": 1.0}, "toString": 2}',
    '["\\u00e9\\ud83d\\ude00\\u007f\\u2028", "\\"\\\\\\n\\t\\b\\f\\u0001/"]',
    '{"a": [], "b": {}, "c": [[]]}',
  ])("writes %s unchanged", (text) => {
    expect(dumps(loads(text, { allowNonFinite: true }))).toBe(text);
  });

  it("writes compact text with floats and large integers intact", () => {
    const value = loads(
      '{"t": 1.0, "n": 12345678901234567890, "x": [1e16, 1e-6, 0.00001, 1.5e-7], "é": "\u2028"}',
    );
    expect(dumpsCompact(value)).toBe(
      '{"t":1.0,"n":12345678901234567890,"x":[1e16,1e-6,0.00001,1.5e-7],"é":"\u2028"}',
    );
  });

  it("keeps the order of keys that look like numbers through a copy", () => {
    const value = loads('{"b":1,"0":2}') as Record<string, unknown>;
    expect(dumpsCompact(value)).toBe('{"b":1,"0":2}');
    expect(dumpsCompact(copyWith(value, { c: 3 }))).toBe('{"b":1,"0":2,"c":3}');
    expect(dumpsCompact({ b: 1, 0: 2 })).toBe('{"0":2,"b":1}');
  });

  it("writes non-finite numbers as null in compact text", () => {
    expect(dumpsCompact([Number.NaN, Number.POSITIVE_INFINITY, new PyFloat(2)])).toBe("[null,null,2.0]");
    expect(dumpsCompact([Number.NaN])).toBe("[null]");
  });

  it("indents like Python", () => {
    const value = { a: [1, { b: "x" }], c: [], d: {} };
    const expected =
      '{\n    "a": [\n        1,\n        {\n            "b": "x"\n        }\n    ],\n    "c": [],\n    "d": {}\n}';
    expect(dumps(value, { indent: 4 })).toBe(expected);
    expect(dumpsCompact({ a: new PyFloat(1) }, { indent: 2 })).toBe('{\n  "a": 1.0\n}');
    expect(dumpsCompact({ a: 1 }, { indent: 2 })).toBe('{\n  "a": 1\n}');
  });

  it("supports the other options of json.dumps", () => {
    expect(dumps({ "😀": 1, "\uffff": 2 }, { sortKeys: true, ensureAscii: false })).toBe(
      '{"\uffff": 2, "😀": 1}',
    );
    expect(dumps([1, 2], { separators: [",", ":"] })).toBe("[1,2]");
  });

  it("leaves out undefined members", () => {
    expect(dumps({ a: undefined, b: [undefined] })).toBe('{"b": [null]}');
  });

  it("keeps the last value of a repeated key at the position of the first", () => {
    expect(dumps(loads('{"a": 1.0, "b": 2, "a": 3}'))).toBe('{"a": 3, "b": 2}');
  });

  it("reads plain numbers on request", () => {
    expect(loadsPlain('{"a":1.0,"b":[1e3]}')).toEqual({ a: 1, b: [1000] });
    expect(loadsPlain("[NaN,1.0,1180591620717411303424]", { allowNonFinite: true })).toEqual([
      Number.NaN,
      1,
      2 ** 70,
    ]);
    expect(toPlainNumbers(loads('{"a":[1.0,1180591620717411303424]}'))).toEqual({
      a: [1, 2 ** 70],
    });
  });

  it("agrees with JSON.parse on any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(toPlainNumbers(loads(text))).toEqual(JSON.parse(text));
        expect(loads(dumps(loads(text)))).toEqual(loads(text));
        expect(loads(dumpsCompact(loads(text)))).toEqual(loads(text));
      }),
    );
  });

  it.each([
    ["", /end of text at character 1/],
    ["{oops", /key in double quotes/],
    ['{"a":1,}', /key in double quotes/],
    ["[1,]", /unexpected text/],
    ["[1 2]", /expected ',' or '\]'/],
    ['{"a" 1}', /expected ':'/],
    ['{"a":1 "b"}', /expected ',' or '}'/],
    ["01", /malformed number/],
    ["1.", /malformed number/],
    ["1e", /malformed number/],
    ["tru", /unexpected text/],
    ['"a', /closing quote/],
    ['"a\nb"', /control character/],
    ['"\\x"', /unknown escape/],
    ["1 2", /after the value/],
    ["NaN", /NaN is not JSON/],
    ["[-Infinity]", /-Infinity is not JSON/],
    ["1e999", /range of a double/],
    ["\ufeff1", /unexpected text/],
    ["9".repeat(5000), /more than 4300 digits/],
  ])("rejects %j with a reason", (text, reason) => {
    expect(() => loads(text)).toThrow(JsonTextError);
    expect(() => loads(text)).toThrow(reason);
  });

  it("limits the depth on both paths", () => {
    const plain = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    const exact = (depth: number) => `${"[".repeat(depth)}1.0${"]".repeat(depth)}`;
    expect(loads(plain(1000))).toBeDefined();
    expect(loads(exact(1000))).toBeDefined();
    expect(() => loads(plain(1001))).toThrow(/deeper than 1000/);
    expect(() => loads(exact(200_000))).toThrow(/deeper than 1000/);
    expect(() => loads(`["]]]]\\"]",${plain(20)}]`, { maxDepth: 10 })).toThrow(/deeper than 10 /);
  });

  it("rejects values without JSON text", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => dumps(cycle)).toThrow(JsonWriteError);
    expect(() => dumpsCompact(cycle)).toThrow(JsonWriteError);
    expect(() => dumps([() => 1])).toThrow(/function has no JSON text/);
  });
});
