import { describe, expect, it } from "vitest";
import { growthOf } from "../../testing/growth.ts";
import { lastBoxed, lastClosedBoxed, unwrapText } from "./boxed.ts";

const raw = String.raw;

describe("lastBoxed", () => {
  it("returns the last box with nested braces", () => {
    expect(lastBoxed(raw`\boxed{A} then \boxed{\text{B} {c}}`)).toBe(raw`\text{B} {c}`);
  });

  it("returns undefined without a box or if the last one is not closed", () => {
    expect(lastBoxed("A")).toBeUndefined();
    expect(lastBoxed(raw`\boxed{A} \boxed{B`)).toBeUndefined();
  });
});

describe("lastClosedBoxed", () => {
  it("skips boxes that are not closed", () => {
    expect(lastClosedBoxed(raw`\boxed{A} \boxed{B {c}`)).toBe("A");
    expect(lastClosedBoxed(raw`\boxed{out \boxed{in} more}`)).toBe("in");
    expect(lastClosedBoxed(raw`} \boxed{}`)).toBe("");
    expect(lastClosedBoxed(raw`\boxed{`)).toBeUndefined();
  });

  it("needs linear time for boxes that are not closed", async () => {
    const find = (size: number) => expect(lastClosedBoxed(raw`\boxed{`.repeat(size))).toBeUndefined();
    expect(await growthOf(find, 5_000)).toBeLessThan(1.6);
  });
});

describe("unwrapText", () => {
  it("unwraps commands that enclose the whole text", () => {
    expect(unwrapText(raw`\text{ \text{B} }`)).toBe("B");
    expect(unwrapText(raw`\text{B}. Blue`)).toBe(raw`\text{B}. Blue`);
    expect(unwrapText(raw`\text{}`)).toBe("");
  });
});
