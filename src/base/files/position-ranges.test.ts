import { describe, expect, it } from "vitest";
import { PositionRanges } from "./position-ranges.ts";

describe("PositionRanges", () => {
  it("joins adjacent positions", () => {
    const ranges = new PositionRanges();
    ranges.add(1, 2);
    ranges.add(3, 1);
    ranges.add(7, 1);
    expect(ranges.text()).toBe("1-3, 7");
    expect(ranges.text(1)).toBe("1-3, …");
    expect([...ranges.positions()]).toEqual([1, 2, 3, 7]);
    expect(ranges.count).toBe(4);
  });

  it("limits the ranges but counts all positions", () => {
    const ranges = new PositionRanges();
    for (let position = 0; position < 60_000; position += 2) ranges.add(position, 1);
    expect(ranges.count).toBe(30_000);
    expect([...ranges.positions()].length).toBe(10_000);
  });
});
