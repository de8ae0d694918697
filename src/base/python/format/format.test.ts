import { describe, expect, it } from "vitest";
import { PyFloat } from "../numbers/py-float.ts";
import { formatTemplate, parseTemplate, TemplateFieldError } from "./format.ts";
import { formatValue, TemplateError } from "./format-value.ts";

const float = (value: number) => new PyFloat(value);

describe("formatValue", () => {
  it.each<[unknown, string, string]>([
    [5, "05", "00005"],
    [5, "<05", "50000"],
    [5, "x<05", "5xxxx"],
    [1234, "010,", "00,001,234"],
    [1234, "08,", "0,001,234"],
    [1234, "_b", "100_1101_0010"],
    [255, "#010x", "0x000000ff"],
    [10, "#X", "0XA"],
    [-3, "#b", "-0b11"],
    [-5, "=+5", "-   5"],
    [-5, "^06", "00-500"],
    [65, "c", "A"],
    [3, ".2f", "3.00"],
    [10n ** 30n, "f", "1000000000000000019884624838656.000000"],
    [true, "", "True"],
    [true, "05", "00001"],
    [float(123), ".3", "1.23e+02"],
    [float(12345), ".6", "12345.0"],
    [float(1234567), ",", "1,234,567.0"],
    [1234.5, "012,.2f", "0,001,234.50"],
    [float(1), "010,", "0,000,001.0"],
    [2.5, ".0f", "2"],
    [0.125, ".2f", "0.12"],
    [1.5, "#.0f", "2."],
    [0.5, "%", "50.000000%"],
    [1e-5, "g", "1e-05"],
    [float(1e6), "g", "1e+06"],
    [float(0), "#g", "0.00000"],
    [9.96, ".1e", "1.0e+01"],
    [-0.01, "z.1f", "0.0"],
    [Number.NaN, "010", "0000000nan"],
    [Number.NEGATIVE_INFINITY, "010,", "-000000inf"],
    [Number.POSITIVE_INFINITY, "F", "INF"],
    ["a", "05", "a0000"],
    ["a", "^5", "  a  "],
    ["漢😀x", ".2", "漢😀"],
    ["😀", ">3", "  😀"],
  ])("format(%s, %j) is %j", (value, spec, expected) => {
    expect(formatValue(value, spec)).toBe(expected);
  });

  it.each<[unknown, string]>([
    ["a", "d"],
    ["a", "+"],
    ["a", "="],
    ["a", "#"],
    ["a", ","],
    [1, ".2"],
    [1, "s"],
    [1, ",x"],
    [1, "z"],
    [1.5, "d"],
    [1.5, "z<<"],
    [1.5, "."],
    [1, "99999999"],
    [1, ",_"],
    [-1, "c"],
    [null, "5"],
    [[1], ">5"],
    [{}, "s"],
  ])("format(%j, %j) is rejected", (value, spec) => {
    expect(() => formatValue(value, spec)).toThrow(TemplateError);
  });
});

describe("formatTemplate", () => {
  const row = {
    n: 3.25,
    choices: ["red", "blue"],
    meta: { lang: "fr", "a.b": 1, "x!y:z": 2 },
    flag: true,
    nothing: null,
    text: "{curly}",
    width: 6,
    "two words": "ok",
  };

  it.each([
    ["{n:.2f} {choices[1]} {meta[lang]}", "3.25 blue fr"],
    ["{flag} {nothing} {choices} {meta[lang]!r:>8}", "True None ['red', 'blue']     'fr'"],
    ["{{{n:.1f}}} {{ok}} }}", "{3.2} {ok} }"],
    ["{text} {two words}", "{curly} ok"],
    ["{meta[a.b]}{meta[x!y:z]}", "12"],
    ["{choices[0][2]}", "d"],
    ["{choices[0]:{width}}|", "red   |"],
    ["{flag:{width}d}", "     1"],
    ["{width.real} {width.imag} {width.denominator} {n.imag}", "6 0 1 0.0"],
    ["", ""],
    ["plain", "plain"],
  ])("renders %j as %j", (template, expected) => {
    expect(formatTemplate(template, row)).toBe(expected);
  });

  it.each([
    ["{", /Single '{'/],
    ["}", /Single '}'/],
    ["a } b", /Single '}'/],
    ["{n", /expected '}'/],
    ["{n!}", /unmatched .{./],
    ["{n!x}", /Unknown conversion/],
    ["{n!rr}", /expected ':'/],
    ["{n:{}}", /Positional/],
    ["{n:{width:{width}}}", /recursion/],
    ["{}", /Positional/],
    ["{0}", /Positional/],
    ["{n{x}}", /unexpected '{'/],
    ["{choices[}", /expected '}'|Missing ']'/],
    ["{choices[]}", /Empty attribute/],
    ["{choices[0]x}", /Only '.' or '\['/],
    ["{choices.}", /Empty attribute/],
    ["{choices[5]}", /out of range/],
    ["{choices[-1]}", /indices must be integers/],
    ["{meta[0]}", /no key 0/],
    ["{meta[nope]}", /no key 'nope'; it has: lang/],
    ["{meta[constructor]}", /no key 'constructor'/],
    ["{n[0]}", /not subscriptable/],
    ["{text.upper}", /no attribute 'upper'/],
    ["{choices.length}", /no attribute 'length'/],
    ["{toString}", /needs the field 'toString'/],
  ])("%j is rejected", (template, reason) => {
    expect(() => formatTemplate(template, row)).toThrow(reason);
  });

  it("names the missing field and the available fields", () => {
    expect(() => formatTemplate("{question}", { other: 1, id: 2 })).toThrow(TemplateFieldError);
    expect(() => formatTemplate("{question}", { other: 1, id: 2 })).toThrow(
      /'question'; the row has: other, id/,
    );
  });

  it("lists the fields of a template", () => {
    expect(parseTemplate("{a[x]} {b:{c}} {a}").fields).toEqual(["a", "b", "c"]);
  });
});
