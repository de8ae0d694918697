import { describe, expect, it } from "vitest";
import { growthOf } from "../testing/growth.ts";
import { lastBoxed, lastClosedBoxed, unwrapText } from "./boxed.ts";

const raw = String.raw;

describe("lastBoxed", () => {
  it("takes the last box with its nested braces", () => {
    expect(lastBoxed(raw`\boxed{A} then \boxed{\text{B} {c}}`)).toBe(raw`\text{B} {c}`);
  });

  it("gives nothing without a box or when the last one stays open", () => {
    expect(lastBoxed("A")).toBeUndefined();
    expect(lastBoxed(raw`\boxed{A} \boxed{B`)).toBeUndefined();
  });
});

describe("lastClosedBoxed", () => {
  it("skips boxes that stay open", () => {
    expect(lastClosedBoxed(raw`\boxed{A} \boxed{B {c}`)).toBe("A");
    expect(lastClosedBoxed(raw`\boxed{out \boxed{in} more}`)).toBe("in");
    expect(lastClosedBoxed(raw`} \boxed{}`)).toBe("");
    expect(lastClosedBoxed(raw`\boxed{`)).toBeUndefined();
  });

  it("is linear in boxes that never close", async () => {
    const find = (size: number) => expect(lastClosedBoxed(raw`\boxed{`.repeat(size))).toBeUndefined();
    expect(await growthOf(find, 5_000)).toBeLessThan(1.6);
  });
});

describe("unwrapText", () => {
  it("unwraps as long as the command covers everything", () => {
    expect(unwrapText(raw`\text{ \text{B} }`)).toBe("B");
    expect(unwrapText(raw`\text{B}. Blue`)).toBe(raw`\text{B}. Blue`);
    expect(unwrapText(raw`\text{}`)).toBe("");
  });
});
