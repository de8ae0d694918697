import { describe, expect, it } from "vitest";
import { truncateText } from "./truncate-text.ts";

describe("truncateText", () => {
  it("leaves short texts alone", () => {
    expect(truncateText("abc", { maxChars: 3 })).toBe("abc");
    expect(truncateText("abc", { maxChars: null })).toBe("abc");
  });

  it("keeps the part the policy names", () => {
    expect(truncateText("abcdefgh", { maxChars: 4 })).toBe("ab\n[4 characters omitted]\ngh");
    expect(truncateText("abcdefgh", { maxChars: 4, keep: "start" })).toBe("abcd\n[4 characters omitted]");
    expect(truncateText("abcdefgh", { maxChars: 4, keep: "end" })).toBe("[4 characters omitted]\nefgh");
    expect(truncateText("abcdefgh", { maxChars: 0 })).toBe("[8 characters omitted]");
  });

  it("does not tear surrogate pairs", () => {
    const cut = truncateText("😀😀😀😀", { maxChars: 3, keep: "start" });
    expect(cut).toBe("😀\n[6 characters omitted]");
    expect(truncateText("😀😀😀😀", { maxChars: 3, keep: "end" })).toBe("[6 characters omitted]\n😀");
  });
});
