import { describe, expect, it } from "vitest";
import { z } from "zod";
import { laxBool, laxFloat, laxInt, strictStr } from "./lax.ts";
import { ValidationError, zodDetail } from "./validation.ts";

const schema = z.strictObject({
  count: laxInt(),
  ratio: laxFloat().optional(),
  flag: laxBool().nullable(),
  name: strictStr(),
  kind: z.enum(["a", "b"]).optional(),
  either: z.union([z.string(), z.array(laxInt())]).optional(),
});

function detail(value: unknown) {
  const result = schema.safeParse(value);
  return result.success ? [] : zodDetail(result.error, ["body"], value);
}

describe("zodDetail", () => {
  it("reports a missing field with its parent object as input", () => {
    expect(detail({ flag: null, name: "n" })).toEqual([
      { type: "missing", loc: ["body", "count"], msg: "Field required", input: { flag: null, name: "n" } },
    ]);
  });

  it("has the messages of pydantic", () => {
    const types = detail({ count: 5.5, ratio: "x", flag: 2, name: 5, kind: "c", more: 1 });
    expect(types.map(({ type, msg }) => [type, msg])).toEqual([
      ["int_from_float", "Input should be a valid integer, got a number with a fractional part"],
      ["float_parsing", "Input should be a valid number, unable to parse string as a number"],
      ["bool_parsing", "Input should be a valid boolean, unable to interpret input"],
      ["string_type", "Input should be a valid string"],
      ["literal_error", "Input should be 'a' or 'b'"],
      ["extra_forbidden", "Extra inputs are not permitted"],
    ]);
  });

  it("reports errors inside unions, and values that are not objects", () => {
    expect(detail({ count: 1, flag: null, name: "n", either: [1, "x"] }).map(({ loc }) => loc)).toEqual([
      ["body", "either"],
      ["body", "either", 1],
    ]);
    expect(detail(5)).toMatchObject([{ type: "model_attributes_type", loc: ["body"], input: 5 }]);
  });
});

describe("lax scalars", () => {
  it.each([
    ["5", 5],
    [" 5 ", 5],
    ["+5", 5],
    ["5.00", 5],
    ["1_000", 1000],
    [5, 5],
    [true, 1],
  ])("reads %j as an integer", (value, expected) => {
    expect(laxInt().parse(value)).toBe(expected);
  });

  it.each(["5.5", "1e3", "", "x", "_1", "1__0", 0.5, null, [], 1e20, Number.NaN])(
    "rejects %j as an integer",
    (value) => {
      expect(laxInt().safeParse(value).success).toBe(false);
    },
  );

  it.each([
    ["1e3", 1000],
    [".5", 0.5],
    ["5.", 5],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["nan", Number.NaN],
    [false, 0],
  ])("reads %j as a number", (value, expected) => {
    expect(laxFloat().parse(value)).toBe(expected);
  });

  it("reads common words as booleans", () => {
    expect(["YES", "on", "t", 1, "1"].map((value) => laxBool().parse(value))).toEqual(Array(5).fill(true));
    expect(["Off", "n", 0, false].map((value) => laxBool().parse(value))).toEqual(Array(4).fill(false));
    for (const value of [2, " true", "", null, 0.5]) expect(laxBool().safeParse(value).success).toBe(false);
  });

  it("has a JSON Schema of its result", () => {
    expect(
      z.toJSONSchema(z.object({ n: laxInt(), x: laxFloat(), b: laxBool() }), { io: "input" }),
    ).toMatchObject({
      properties: { n: { type: "integer" }, x: { type: "number" }, b: { type: "boolean" } },
      required: ["n", "x", "b"],
    });
  });
});

describe("ValidationError", () => {
  it("has the first locations in its message", () => {
    const one = { type: "missing", loc: ["body", "a"], msg: "Field required", input: {} };
    expect(new ValidationError([one]).message).toBe("body.a: Field required");
    expect(new ValidationError([one, one, one, one]).message).toContain("and 1 more");
  });
});
