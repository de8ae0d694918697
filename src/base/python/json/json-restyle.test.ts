import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dumps } from "./json-dumps.ts";
import { loads } from "./json-loads.ts";
import { restyle } from "./json-restyle.ts";

describe("restyle", () => {
  it.each([
    '{"a": 1, "b": [1.5, true, null], "c": {}, "d": []}',
    '{"a":1,"b":[1.50,true,null],"c":{ },"d":[ ]}',
    ' {"a" :\t1 , "b":\r\n"x"} ',
    '"é\u2028\u{1f642}\\u00E9\\/\\"\\\\\\n\\u000a"',
    '["\\ud83d", "\\u007f", "a, b: c"]',
    "[1.0, 1E5, 1e-7, -0, -0.0, 0.1e1, 12345678901234567890, 1e16, 123456789.123456789]",
    '{"1": 0, "0": 1, "__proto__": 2}',
    "  7  ",
    '""',
  ])("rewrites %s like loads and dumps", (text) => {
    expect(restyle(text)?.text).toBe(dumps(loads(text)));
  });

  it("counts members, so that repeated keys can be detected", () => {
    expect(restyle('{"a": {"b": 1, "b": 2}, "c": [{"d": ":"}]}')?.members).toBe(5);
  });

  it.each(["[1e999]", `[${"9".repeat(4301)}]`])("does not rewrite %.10s…", (text) => {
    expect(restyle(text)).toBeUndefined();
  });

  it("agrees with loads and dumps for any value and spacing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), fc.boolean(), (value, indent, ascii) => {
        const text = ascii ? dumps(value, { indent }) : JSON.stringify(value, null, indent);
        expect(restyle(text)?.text).toBe(dumps(loads(text)));
      }),
      { numRuns: 500 },
    );
  });

  it("returns text in the right style unchanged", () => {
    const text = dumps({ a: ["x", 1.5, { b: "é" }] });
    expect(restyle(text)?.text).toBe(text);
  });
});
