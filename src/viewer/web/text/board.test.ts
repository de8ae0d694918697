import { Marked } from "marked";
import { describe, expect, it } from "vitest";
import { boardExtension } from "./board.ts";

const marked = new Marked({ gfm: true, extensions: [boardExtension] });
const tokens = (text: string) => marked.lexer(text).map(({ type, raw }) => [type, raw.trim()]);

describe("boards in messages", () => {
  it("keep their characters", () => {
    const board = "#####\n#_X_#\n#_XX#\n#P_O#\n#####";
    expect(tokens(`Solve this:\n${board}\nYour turn.`)).toEqual([
      ["paragraph", "Solve this:"],
      ["board", board],
      ["paragraph", "Your turn."],
    ]);
    expect(tokens("SFFF\nFHFH\n")).toEqual([["board", "SFFF\nFHFH"]]);
    expect(tokens("X | O | X\n--+---+--\nO | X | O")).toEqual([["board", "X | O | X\n--+---+--\nO | X | O"]]);
  });

  it.each([
    ["  /\\_/\\\n ( o.o )\n  > ^ <"],
    ["    *\n   ***\n  *****"],
    ["+--+\n|  +---+\n+--+ X |\n   +---+"],
  ])("may have lines of different lengths: %j", (drawing) => {
    expect(marked.lexer(`Look:\n${drawing}\nNice.`).map(({ type }) => type)).toEqual([
      "paragraph",
      "board",
      "paragraph",
    ]);
    expect(marked.lexer(`${drawing}\n`)[0]).toMatchObject({ type: "board", text: drawing });
  });

  it("are not detected in Markdown", () => {
    for (const [text, type] of [
      ["| A | B |\n|---|---|\n| 1 | 2 |", "table"],
      ["- A\n- B", "list"],
      ["1. A\n2. B", "list"],
      ["> A\n> B", "blockquote"],
      ["```\n###\n###\n```", "code"],
      ["## Plan", "heading"],
      ["good\ncode", "paragraph"],
      ["x = 10\ny = 2\nz = 3", "paragraph"],
      ["\\[ (1) \\]\n\\[ (2) \\]\n\\[ (3) \\]", "paragraph"],
      ["> !!\n> ??\n> ..", "blockquote"],
    ])
      expect(tokens(text ?? "")[0]?.[0]).toBe(type);
  });
});
