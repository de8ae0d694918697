import { describe, expect, it } from "vitest";
import { CsvError, parseCsv, readTable } from "./read-csv.ts";

describe("parseCsv", () => {
  it.each([
    [
      "a,b\n1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\r\n1,2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    ['"x,""y""\nz",2', [['x,"y"\nz', "2"]]],
    [
      "a,\n,b\n\n,",
      [
        ["a", ""],
        ["", "b"],
        ["", ""],
      ],
    ],
    ["\ufeffa\nb", [["a"], ["b"]]],
    ["", []],
  ])("splits %j", (text, records) => {
    expect(parseCsv(text)).toEqual(records);
  });

  it("refuses an unclosed quote", () => {
    expect(() => parseCsv('a,"b')).toThrow(CsvError);
  });
});

describe("readTable", () => {
  it("reads cells as text, and empty cells as null", () => {
    const table = readTable("id,name\n01,\n02,NA\n03,x\n", ["id", "name"], "t.csv");
    expect(table.rows.map(({ label, cells }) => [label, cells])).toEqual([
      [0, { id: "01", name: null }],
      [1, { id: "02", name: null }],
      [2, { id: "03", name: "x" }],
    ]);
  });

  it("names the invalid file and column", () => {
    expect(() => readTable("id\n1\n", ["id", "name"], "t.csv")).toThrow("t.csv lacks the columns name");
    expect(() => readTable("id\n1,2\n", ["id"], "t.csv")).toThrow("t.csv, record 1");
  });
});
