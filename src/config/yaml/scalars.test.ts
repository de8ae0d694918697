import { describe, expect, it } from "vitest";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { plainScalar } from "./scalars.ts";

describe("plainScalar", () => {
  it.each([
    ["yes", true],
    ["Off", false],
    ["TRUE", true],
    ["tRUE", "tRUE"],
    ["y", "y"],
    ["~", null],
    ["", null],
    ["Null", null],
    ["017", 15],
    ["08", "08"],
    ["0o17", "0o17"],
    ["0x1f", 31],
    ["-0b11", -3],
    ["0x_", "0x_"],
    ["1_000", 1000],
    ["+1", 1],
    ["1:30", 90],
    ["12:30:45", 45045],
    ["1:60", "1:60"],
    [".5", 0.5],
    ["-.5", "-.5"],
    ["1.5e3", new PyFloat(1500)],
    ["1e3", new PyFloat(1000)],
    ["1.", new PyFloat(1)],
    ["1:30.5", 90.5],
    [".inf", Number.POSITIVE_INFINITY],
    ["-.Inf", Number.NEGATIVE_INFINITY],
    [".NaN", Number.NaN],
    ["2024-05-06", "2024-05-06"],
    ["1.2.3", "1.2.3"],
    ["???", "???"],
  ])("reads %s", (text, value) => {
    expect(plainScalar(text)).toEqual(value);
  });

  it("keeps integers beyond 2^53 exact", () => {
    expect(plainScalar("12345678901234567890")).toBe(12345678901234567890n);
  });
});
