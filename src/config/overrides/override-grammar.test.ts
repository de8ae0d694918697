import { describe, expect, it } from "vitest";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { OverrideError } from "../errors.ts";
import { plainFromNode } from "../plain-data.ts";
import { parseOverride } from "./override-grammar.ts";

function value(text: string): unknown {
  const { value: node } = parseOverride(`+key=${text}`);
  return node && plainFromNode(node);
}

describe("parseOverride", () => {
  it.each([
    ["+a.b=1", "+", "a.b"],
    ["++a=1", "++", "a"],
    ["a-b.0.c=1", "", "a-b.0.c"],
    ["~a.b", "~", "a.b"],
    ["+a/b=1", "+", "a/b"],
    ["+$x.y_1=1", "+", "$x.y_1"],
  ])("reads the key of %s", (text, operation, key) => {
    expect(parseOverride(text)).toMatchObject({ operation, key });
  });

  it.each([
    ["3", 3],
    ["-2.5", -2.5],
    ["1_000", 1000],
    ["007", "007"],
    ["0x10", "0x10"],
    ["TrUe", true],
    ["null", null],
    ["None", "None"],
    ["yes", "yes"],
    ["", ""],
    ["12:30", "12:30"],
    ["1.2.3", "1.2.3"],
    ["nan", Number.NaN],
    ["-inf", Number.NEGATIVE_INFINITY],
    ["http://host:8000/v1", "http://host:8000/v1"],
    ["left right", "left right"],
    ["  trim me  ", "trim me"],
    ["a\\,b", "a,b"],
    ["a\\=b\\\\", "a=b\\"],
    ["C:\\dir", "C:\\dir"],
    ["${a.b}/x", "${a.b}/x"],
    ["???", "???"],
    ["a : b", "a : b"],
  ])("types the unquoted value %j", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it("keeps floats apart from integers", () => {
    const { value: node } = parseOverride("+a=1e3");
    expect(node?.kind === "scalar" && node.value).toEqual(new PyFloat(1000));
  });

  it.each([
    ["''", ""],
    ["'1'", "1"],
    ['"x, y"', "x, y"],
    ["'it\\'s'", "it's"],
    ["'back\\nslash'", "back\\nslash"],
    ["'abc\\\\'", "abc\\"],
    ["'a\\\\\\'b'", "a\\'b"],
    ["'~/x?a=1&b=#'", "~/x?a=1&b=#"],
    ["'Zoë'", "Zoë"],
  ])("reads the quoted value %s", (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  it.each([
    ["[1,two,[3.0,null],{k:v,n:2}]", [1, "two", [3, null], { k: "v", n: 2 }]],
    ["{x:{y:[true]},u:http://h:8/v1}", { x: { y: [true] }, u: "http://h:8/v1" }],
    ["[ 1 , 'b c' ]", [1, "b c"]],
    ["{ a: 1, b: x y }", { a: 1, b: "x y" }],
    ["{1: x}", { "1": "x" }],
    ["[]", []],
    ["{}", {}],
    ["int('7')", 7],
    ["int(3.9)", 3],
    ["str(1.0)", "1.0"],
    ["str([1,true])", ["1", "true"]],
    ["float(2)", 2],
    ["bool('False')", false],
    ["bool(0)", false],
    ["float('-1_0.5e1')", -105],
    ["float(inf)", Number.POSITIVE_INFINITY],
    ["int({a: '1', b: true})", { a: 1, b: 1 }],
  ])("reads %s", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each([
    ["+a=x,y", "Ambiguous value for argument '+a=x,y'", undefined],
    ["+url=http://h/v1?k=1", "unexpected '='", 19],
    ["+a=~/x", "expected a value", 4],
    ["+a=é", "expected a value", 4],
    ["+a=[1", "expected ',' or ']'", 6],
    ["+a=[1,]", "expected a value", 7],
    ["+a={b}", "expected ':'", 6],
    ["+a='x", "expected a closing '", 4],
    ["+a='x'y", "unexpected 'y'", 7],
    ["+a[0]=1", "expected '='", 3],
    ["+a", "expected '='", 3],
    ["=1", "expected a key", 1],
    ["+a@b=1", "config group", 3],
    ["+a=choice(1,2)", "makes a sweep", 1],
    ["+a=foo(1)", "unknown function 'foo'", 1],
    ["+a=int(x)", "cannot be read as int", undefined],
    ["+a=str(null)", "cannot be read as str", undefined],
    ["+a=int(1,2)", "takes one value", undefined],
    ["+a=int()", "needs a value", undefined],
  ])("rejects %s with a position", (text, problem, column) => {
    let caught: unknown;
    try {
      parseOverride(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(OverrideError);
    const error = caught as OverrideError;
    expect(error.message).toContain(problem);
    expect(error.message).toContain(text);
    expect(error.position).toBeDefined();
    if (column !== undefined) expect(error.position?.column).toBe(column);
  });
});
