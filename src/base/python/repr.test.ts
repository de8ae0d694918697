import { describe, expect, it } from "vitest";
import { loads } from "./json/json-loads.ts";
import { PyFloat } from "./numbers/py-float.ts";
import { pyAscii, pyRepr, pyStr, pyTypeName } from "./repr.ts";

describe("pyRepr", () => {
  it.each([
    ['{"a": [true, null, 1.0, 1], "b": "it\'s"}', `{'a': [True, None, 1.0, 1], 'b': "it's"}`],
    [
      '["\\"", "\'\\"", "\\\\", "\\n\\t\\r\\u0000\\u007f\\u00a0\\u200b"]',
      String.raw`['"', '\'"', '\\', '\n\t\r\x00\x7f\xa0\u200b']`,
    ],
    ["[1e-7, 1e16, 123456789012345678901, -0.0, 0.1]", "[1e-07, 1e+16, 123456789012345678901, -0.0, 0.1]"],
    ['["é", "漢", "😀", "\\ud800", "\\uffff"]', String.raw`['é', '漢', '😀', '\ud800', '\uffff']`],
    ["{}", "{}"],
    ["[]", "[]"],
  ])("of %s", (text, expected) => {
    expect(pyRepr(loads(text))).toBe(expected);
  });

  it("returns strings unchanged only in pyStr", () => {
    expect(pyStr("it's")).toBe("it's");
    expect(pyStr(["x"])).toBe("['x']");
    expect(pyStr(Number.NaN)).toBe("nan");
    expect(pyStr(Number.NEGATIVE_INFINITY)).toBe("-inf");
  });

  it("escapes characters outside ASCII in pyAscii", () => {
    expect(pyAscii("é漢😀")).toBe(String.raw`'\xe9\u6f22\U0001f600'`);
  });

  it("names types like Python", () => {
    expect([null, true, 1, 1.5, new PyFloat(1), 1n, "", [], {}].map(pyTypeName)).toEqual([
      "NoneType",
      "bool",
      "int",
      "float",
      "float",
      "int",
      "str",
      "list",
      "dict",
    ]);
  });

  it("rejects values that contain themselves", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => pyRepr(cycle)).toThrow(/contains itself/);
  });
});
