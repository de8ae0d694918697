import { describe, expect, it } from "vitest";
import { countMatches, predictedCall } from "./match-calls.ts";

const predicted = (...calls: [name: string, args: string][]) =>
  calls.map(([name, args]) => predictedCall({ name, arguments: args }));

describe("predictedCall", () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ["", {}],
    ["{bad", {}],
    ["5", 5],
    ["null", null],
    ['"{\\"a\\": 1}"', '{"a": 1}'],
  ])("shows %j as %j", (text, value) => {
    expect(predictedCall({ name: "f", arguments: text })).toEqual({ name: "f", arguments: value });
  });
});

describe("countMatches", () => {
  it.each([
    ["surplus arguments", { a: 1 }, '{"a": 1, "b": 2}', 1],
    ["a missing argument", { a: 1, b: 2 }, '{"a": 1}', 0],
    ["numbers that are equal in Python", { a: 1, b: 2 }, '{"a": true, "b": 2.0}', 1],
    ["text instead of a number", { a: 1 }, '{"a": "1"}', 0],
    ["lists in another order", { a: [1, 2] }, '{"a": [2, 1]}', 0],
    ["JSON text as expected arguments", '{"a": 1}', '{"a": 1}', 1],
    ["JSON text inside JSON text", { a: 1 }, '"{\\"a\\": 1}"', 1],
    ["no expected arguments at all", null, '{"a": 1}', 1],
    ["a list where nothing is expected", {}, "[1]", 1],
    ["integers beyond 2^53", { a: 2 ** 64 }, '{"a": 18446744073709551616}', 1],
    ["names of inherited members", { toString: 1 }, "{}", 0],
  ])("compares %s", (_, expected, actual, matches) => {
    expect(countMatches([{ name: "f", arguments: expected }], predicted(["f", actual]))).toBe(matches);
  });

  it("matches each expected call with the first call that fits", () => {
    const narrow = { name: "f", arguments: { a: 1, b: 2 } };
    const wide = { name: "f", arguments: { a: 1 } };
    const calls = predicted(["f", '{"a": 1, "b": 2}'], ["f", '{"a": 1}']);
    expect(countMatches([wide, narrow], calls)).toBe(1);
    expect(countMatches([narrow, wide], calls)).toBe(2);
  });

  it("does not match a call twice", () => {
    const wanted = { name: "f", arguments: {} };
    expect(countMatches([wanted, wanted], predicted(["f", "{}"]))).toBe(1);
  });
});
