import { describe, expect, it } from "vitest";
import { dumps } from "../python/json/json-dumps.ts";
import { matcherFor } from "./text-search.ts";

describe("matcherFor", () => {
  it.each(['say "hi"', "a\nb", "back\\slash", "Grüße", "ärger", "日本", "😀", "plain", "İstanbul"])(
    "finds %j in lines of either style",
    (text) => {
      const matches = matcherFor(text);
      for (const line of [JSON.stringify({ x: `…${text}.` }), dumps({ x: `…${text}.` })])
        expect(matches(line)).toBe(true);
      expect(matches('{"x":"something else"}')).toBe(false);
    },
  );

  it("does not mind the case", () => {
    expect(matcherFor("ÄRGER")(dumps({ x: "ärger" }))).toBe(true);
    expect(matcherFor("ärger")(dumps({ x: "ÄRGER" }))).toBe(true);
    expect(matcherFor("HI")('{"x":"oh hi"}')).toBe(true);
  });
});
