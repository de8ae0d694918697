import { describe, expect, it } from "vitest";
import { ansiPieces, HAS_ANSI } from "./ansi.ts";
import { visiblePieces } from "./controls.ts";

describe("terminal output", () => {
  it("keeps colours and drops all other sequences", () => {
    expect(ansiPieces("a\u001b[1;31mred\u001b[0m\u001b[2Kb\u001b]0;title\u0007c")).toEqual([
      { text: "a", className: "" },
      { text: "red", className: "ansi-red ansi-bold" },
      { text: "b", className: "" },
      { text: "c", className: "" },
    ]);
    expect(ansiPieces("\u001b[38;5;200mx\u001b[42my")).toEqual([
      { text: "x", className: "" },
      { text: "y", className: "ansi-on-green" },
    ]);
  });

  it("shows the final state of an overwritten line", () => {
    expect(
      ansiPieces("10 %\r50 %\r100 %\ndone\r\n")
        .map(({ text }) => text)
        .join(""),
    ).toBe("100 %\ndone\n");
    expect(HAS_ANSI.test("a\r\nb")).toBe(false);
    expect(HAS_ANSI.test("a\rb")).toBe(true);
  });
});

describe("invisible characters", () => {
  it("are shown by their code point", () => {
    expect(visiblePieces("ab\u202egpj.exe\u200b")).toEqual([
      { text: "ab", isUnseen: false },
      { text: "U+202E", isUnseen: true },
      { text: "gpj.exe", isUnseen: false },
      { text: "U+200B", isUnseen: true },
    ]);
    expect(visiblePieces("plain\ttext\n")).toEqual([{ text: "plain\ttext\n", isUnseen: false }]);
  });
});
