import { loads } from "nemo-gym/python";
import { OpaqueValue } from "nemo-gym/verify";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { schemaFault } from "./validate.ts";

/** Whether a JSON text matches a schema, both parsed as in Python. */
function fits(schema: unknown, text: string): boolean {
  return schemaFault(loads(JSON.stringify(schema)), loads(text, { allowNonFinite: true })) === undefined;
}

describe("schemaFault", () => {
  it.each([
    [
      { type: "integer" },
      ["3", "3.0", "1e2", "123456789012345678901234567890"],
      ["3.5", "true", "NaN", '"3"'],
    ],
    [{ type: ["string", "null"] }, ['"a"', "null"], ["1"]],
    [{ enum: [1, "a", [true]] }, ["1.0", '"a"', "[true]"], ["true", "[1]", "2"]],
    [{ const: { a: 1 } }, ['{"a": 1.0}'], ['{"a": true}', '{"a": 1, "b": 2}']],
    [{ minLength: 2, maxLength: 3 }, ['"😀😀"', "5"], ['"😀"', '"abcd"']],
    [{ pattern: "^[0-9]{5}$" }, ['"12345"', '"12345\\n"'], ['"１２３４５"', '"1234"']],
    [{ multipleOf: 0.1 }, ["5", "0.5"], ["0.3", "0.35"]],
    [{ multipleOf: 3 }, ["9", "123456789012345678901234567890", "9.0"], ["10", "Infinity"]],
    [{ minimum: 1, exclusiveMaximum: 2 }, ["1", "1.9", "NaN", '"x"'], ["0", "2"]],
    [
      { uniqueItems: true },
      ["[1, true, 0, false]", '[{"a":1},{"a":true}]'],
      ["[1, 1.0]", '[{"a":1,"b":2},{"b":2,"a":1}]'],
    ],
    [
      { items: { type: "string" }, prefixItems: [{ type: "integer" }] },
      ['[1, "a"]', "[]"],
      ['["a"]', "[1, 2]"],
    ],
    [{ contains: { const: 1 }, minContains: 2, maxContains: 2 }, ["[1, 0, 1]"], ["[1]", "[1, 1, 1]"]],
    [
      { properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false },
      ['{"a": 1}'],
      ["{}", '{"a": 1, "b": 2}', '{"a": "x"}'],
    ],
    [
      { patternProperties: { "^x": { type: "integer" } }, additionalProperties: false },
      ['{"x1": 1}'],
      ['{"x1": "a"}', '{"y": 1}'],
    ],
    [{ propertyNames: { maxLength: 1 }, minProperties: 1 }, ['{"a": 1}'], ['{"ab": 1}', "{}"]],
    [
      { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { maxProperties: 1 } } },
      ['{"a": 1, "b": 1}', '{"c": 1}'],
      ['{"a": 1}', '{"c": 1, "d": 1}'],
    ],
    [{ oneOf: [{ multipleOf: 3 }, { multipleOf: 5 }] }, ["3", "5"], ["15", "1"]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }], not: { const: 7 } }, ['"a"', "6"], ["1", "7"]],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { type: "integer" }, then: { minimum: 0 }, else: { type: "string" } },
      ["1", '"a"'],
      ["-1", "null"],
    ],
    [
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      ['{"a": 1}'],
      ['{"a": 1, "b": 2}'],
    ],
    [{ prefixItems: [true], unevaluatedItems: false }, ["[1]"], ["[1, 2]"]],
    [
      { $defs: { n: { type: "integer" } }, properties: { a: { $ref: "#/$defs/n" } } },
      ['{"a": 1}'],
      ['{"a": "x"}'],
    ],
    [{ $id: "http://x/y", $defs: { n: { $anchor: "num", type: "integer" } }, $ref: "#num" }, ["1"], ['"x"']],
    [true, ["1"], []],
    [false, [], ["1"]],
  ])("%j", (schema, good, bad) => {
    for (const text of good) expect([text, fits(schema, text)]).toEqual([text, true]);
    for (const text of bad) expect([text, fits(schema, text)]).toEqual([text, false]);
  });

  it.each([
    { type: "bogus" },
    { type: [] },
    { minLength: -1 },
    { minLength: 1.5 },
    { required: ["a", "a"] },
    { properties: [] },
    { pattern: "(" },
    { allOf: [] },
    { multipleOf: 0 },
    { enum: 5 },
    { items: [{}] },
    { $anchor: "1x" },
    [],
    null,
    5,
    { description: 5 },
  ])("refuses %j as a schema", (schema) => {
    expect(schemaFault(loads(JSON.stringify(schema)), 1)).toMatch(/^SchemaError/);
  });

  it("ignores nullable and formats", () => {
    expect(fits({ type: "string", nullable: true }, "null")).toBe(false);
    expect(fits({ format: "date" }, '"no date"')).toBe(true);
  });

  it("refuses broken references and endless recursion", () => {
    expect(schemaFault({ $ref: "#/nope" }, 1)).toMatch(/PointerToNowhere/);
    expect(schemaFault({ $ref: "http://elsewhere/schema" }, 1)).toMatch(/Unresolvable/);
    expect(schemaFault({ $ref: "#" }, 1)).toMatch(/without end/);
  });

  it("follows a discriminator", () => {
    const schema = {
      oneOf: [{ $ref: "#/$defs/cat" }],
      discriminator: { propertyName: "kind", mapping: { cat: "#/$defs/cat" } },
      $defs: { cat: { properties: { lives: { type: "integer" } } } },
    };
    expect(schemaFault(schema, { kind: "cat", lives: 9 })).toBeUndefined();
    expect(schemaFault(schema, { kind: "cat", lives: "nine" })).toBeDefined();
    expect(schemaFault(schema, { kind: "dog" })).toBeDefined();
    expect(schemaFault(schema, {})).toBeDefined();
  });

  it("validates keys that are not strings and values without a JSON type", () => {
    const map = new Map<unknown, unknown>([[1, "x"]]);
    expect(schemaFault({ type: "object", additionalProperties: { type: "string" } }, map)).toBeUndefined();
    expect(schemaFault({ properties: { "1": true }, additionalProperties: false }, map)).toBeDefined();
    expect(schemaFault({ patternProperties: { "1": true } }, map)).toMatch(/TypeError/);
    for (const type of ["string", "object", "null", "number", "array", "boolean"]) {
      expect(schemaFault({ type }, new OpaqueValue("date", "2024-01-01"))).toBeDefined();
    }
  });

  it("stops if the number of branches explodes", () => {
    const schema = { anyOf: [0, 1].map(() => ({ properties: { a: { $ref: "#" } }, required: ["b"] })) };
    let instance: unknown = {};
    for (let depth = 0; depth < 100; depth++) instance = { a: instance };
    expect(schemaFault(schema, instance)).toBeDefined();
  });
});

it("limits the work of many patterns on many keys", () => {
  // The work grows with patterns x keys x characters. All searches together may take a fixed number of steps.
  const keys = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`${"k".repeat(60)}${index}`, 1]),
  );
  const patternsOf = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`(k|kk)*x${index}$`, { type: "integer" }]),
    );
  const schema = (count: number) => ({ patternProperties: patternsOf(count), unevaluatedProperties: true });
  expect(schemaFault(schema(3), keys)).toBeUndefined();
  expect(schemaFault(schema(2_000), keys)).toMatch(/^RegexBudgetError/);
});

it("compiles a pattern equally often for any number of keys", () => {
  // With more than 512 patterns the shared cache has evicted each one before it is used again.
  const named = Array.from({ length: 600 }, (_, index) => [`^once${index}$`, true]);
  const schema = { patternProperties: Object.fromEntries(named), unevaluatedProperties: true };
  const compilations = (keys: number) => {
    const stored = vi.spyOn(Map.prototype, "set");
    onTestFinished(() => stored.mockRestore());
    const instance = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 1]));
    expect(schemaFault(schema, instance)).toBeUndefined();
    // The shared cache stores a pattern, after its flags, whenever it is compiled.
    const compiled = stored.mock.calls.filter(([key]) => /^\d+\^once7\$$/.test(String(key)));
    stored.mockRestore();
    return compiled.length;
  };
  expect(compilations(1)).toBeGreaterThan(0);
  expect(compilations(100)).toBe(compilations(1));
});
