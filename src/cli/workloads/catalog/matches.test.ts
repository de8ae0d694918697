import { describe, expect, it } from "vitest";
import { matchesQuery } from "./matches.ts";

describe("matchesQuery", () => {
  it("finds parts of fields and ignores case", () => {
    expect(matchesQuery("MATH", ["math_with_judge"])).toBe(true);
    expect(matchesQuery("dge", [undefined, "", "math_with_judge"])).toBe(true);
  });
  it("accepts small misspellings of a field or a word", () => {
    expect(matchesQuery("wether", ["example_mcp_weather"])).toBe(true);
    expect(matchesQuery("instruction following", ["instruction_following"])).toBe(true);
    expect(matchesQuery("gsm", ["aime"])).toBe(false);
  });
});
