import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dumps } from "../../python/json/json-dumps.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";
import { jsonWordCount } from "./word-count.ts";

describe("jsonWordCount", () => {
  it.each([
    [{ input: "a b c" }, 4],
    [{ input: "" }, 2],
    [{ input: " a  b " }, 5],
    [{ input: "tab\there\nand\u3000there" }, 2],
    [[], 1],
    [{}, 1],
    [[1, 2.5, null, true], 4],
    [{ ratio: new PyFloat(1), count: 2n ** 64n }, 4],
    [{ "two words": [{}], other: [] }, 5],
  ])("counts %o", (value, expected) => {
    expect(jsonWordCount(value)).toBe(expected);
  });

  it("agrees with the text it stands for", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonWordCount(value)).toBe(
          dumps(value)
            .split(" ")
            .filter((piece) => piece !== "").length,
        );
      }),
    );
  });
});
