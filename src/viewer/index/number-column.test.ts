import { describe, expect, it } from "vitest";
import { NumberColumn } from "./number-column.ts";

function columnOf(values: readonly number[]): NumberColumn {
  const column = new NumberColumn();
  for (const value of values) column.push(value);
  return column;
}

const read = (column: NumberColumn) => Array.from({ length: column.length }, (_, index) => column.at(index));

describe("NumberColumn", () => {
  it.each([
    [1, [0, 254, Number.NaN]],
    [2, [0, Number.NaN, 255, 65_534]],
    [4, [3, 65_535, Number.NaN, 2 ** 32 - 2]],
    [8, [Number.NaN, 2 ** 32 - 1, 0]],
    [8, [7, 0.5, Number.NaN, -1]],
    [8, [7, Number.NaN, Number.POSITIVE_INFINITY]],
  ])("uses %i bytes per number for %j", (width, values) => {
    const column = columnOf(values);
    expect(read(column)).toEqual(values);
    expect(column.width).toBe(width);
  });

  it("grows, and can be restored from its bytes", () => {
    const values = Array.from({ length: 1000 }, (_, index) => (index % 7 === 0 ? Number.NaN : index));
    for (const last of [999, 1e6, 0.25]) {
      const column = columnOf([...values, last]);
      const bytes = column.bytes.slice().buffer;
      const restored = NumberColumn.restored(bytes, column.width);
      restored.push(-2);
      expect(read(restored)).toEqual([...values, last, -2]);
    }
  });
});
