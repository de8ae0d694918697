import { describe, expect, it } from "vitest";
import { editDistance } from "./code-io.ts";
import { type Tree, treeDistance } from "./tree-distance.ts";

const node = (label: string, ...children: Tree[]): Tree => ({ label, children });
const unit = (left: string, right: string) => (left === right ? 0 : 1);

describe("treeDistance", () => {
  it("solves the textbook example", () => {
    const a = node("f", node("d", node("a"), node("c", node("b"))), node("e"));
    const b = node("f", node("c", node("d", node("a"), node("b"))), node("e"));
    expect(treeDistance(a, b, unit)).toBe(2);
    expect(treeDistance(a, a, unit)).toBe(0);
    expect(treeDistance(a, node("f"), unit)).toBe(5);
  });

  it("uses the given distance between labels", () => {
    expect(treeDistance(node("root", node("n:3")), node("root"), editDistance)).toBe(3);
    expect(treeDistance(node("root", node("abc")), node("root", node("abd")), editDistance)).toBe(1);
  });
});
