import { describe, expect, it } from "vitest";
import { isSpaceCode, lstrip, rstrip, SPACE_CLASS, splitLines, splitWords, strip } from "./whitespace.ts";

describe("white space", () => {
  it("strips the same characters as Python", () => {
    expect(strip("\x1c\x85 \u00a0a b\u3000\u2029")).toBe("a b");
    expect(strip("\ufeffa\u200b")).toBe("\ufeffa\u200b");
    expect(strip("   ")).toBe("");
    expect(lstrip(" a ")).toBe("a ");
    expect(rstrip(" a ")).toBe(" a");
  });

  it("strips given code points", () => {
    expect(strip('"\'x"', "\"'")).toBe("x");
    expect(strip("😀a😀", "😀")).toBe("a");
    expect(rstrip("a\ude00", "😀")).toBe("a\ude00");
    expect(strip("xyx", "xy")).toBe("");
  });

  it("splits at runs of white space", () => {
    expect(splitWords("  a\u2003b\x1dc\n")).toEqual(["a", "b", "c"]);
    expect(splitWords(" \t")).toEqual([]);
  });

  it("splits lines at every line boundary", () => {
    expect(splitLines("a\r\nb\rc\x0bd\u2028e\n")).toEqual(["a", "b", "c", "d", "e"]);
    expect(splitLines("\n\n")).toEqual(["", ""]);
    expect(splitLines("")).toEqual([]);
  });

  it("agrees with its regular-expression form", () => {
    const pattern = new RegExp(`^[${SPACE_CLASS}]$`);
    for (let code = 0; code <= 0xffff; code++) {
      if (pattern.test(String.fromCharCode(code)) !== isSpaceCode(code))
        expect.fail(`U+${code.toString(16)}`);
    }
  });
});
