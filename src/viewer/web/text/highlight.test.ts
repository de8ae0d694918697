import { expect, it } from "vitest";
import { codePieces, languageNamed, languageOfArgument } from "./highlight.ts";

const marked = (text: string, language: Parameters<typeof codePieces>[1]) =>
  codePieces(text, language).flatMap(({ text: piece, kind }) => (kind ? [[kind, piece]] : []));

it("finds comments, strings, numbers and keywords", () => {
  expect(marked('def f(x):  # twice "x"\n    return "a#b" + 2.5', "python")).toEqual([
    ["keyword", "def"],
    ["comment", '# twice "x"'],
    ["keyword", "return"],
    ["string", '"a#b"'],
    ["number", "2.5"],
  ]);
  expect(marked('s = """a\n"b"\n"""', "python")).toEqual([["string", '"""a\n"b"\n"""']]);
  expect(marked("const a = `x\n${1}`; /* b\n */ // c", "javascript")).toEqual([
    ["keyword", "const"],
    ["string", "`x\n${1}`"],
    ["comment", "/* b\n */"],
    ["comment", "// c"],
  ]);
  expect(marked("echo $# 'a b' # end\nif x; then", "shell")).toEqual([
    ["string", "'a b'"],
    ["comment", "# end"],
    ["keyword", "if"],
    ["keyword", "then"],
  ]);
  expect(marked("SELECT a FROM b WHERE c = 'it''s'", "sql").map(([, piece]) => piece)).toEqual([
    "SELECT",
    "FROM",
    "WHERE",
    "'it''s'",
  ]);
});

it("keeps the text, whatever it is", () => {
  for (const text of [
    "'''open",
    '"\\',
    "`",
    "/* open",
    "\u0000\n\r\n",
    "x".repeat(60_000),
    "'".repeat(40_000),
    "/*".repeat(24_000),
    '\\"'.repeat(24_000),
    '"""'.repeat(16_001),
  ])
    for (const language of ["python", "javascript", "shell", "sql", "c", "json"] as const)
      expect(
        codePieces(text, language)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
});

it("names the language of a block and of an argument", () => {
  expect(["py", "TypeScript twoslash", "c++", "sh", "brainfuck", undefined].map(languageNamed)).toEqual([
    "python",
    "javascript",
    "c",
    "shell",
    undefined,
    undefined,
  ]);
  expect(languageOfArgument("command", "ls -l")).toBe("shell");
  expect(languageOfArgument("code", "import math\nprint(math.pi)")).toBe("python");
  expect(languageOfArgument("code", "const x = 1;")).toBe("javascript");
  expect(languageOfArgument("query", "SELECT 1")).toBe("sql");
  expect(languageOfArgument("query", "weather in Oslo")).toBeUndefined();
  expect(languageOfArgument("note", "import math")).toBeUndefined();
});
