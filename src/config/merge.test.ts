import { describe, expect, it } from "vitest";
import { ConfigError } from "./errors.ts";
import { mergeDicts } from "./merge.ts";
import { dict } from "./node.ts";
import { plainFromNode } from "./plain-data.ts";
import { readYaml } from "./yaml/read.ts";

function merge(...texts: string[]): unknown {
  const sources = texts.map((text, index) => readYaml(text, { kind: "file", name: `${index}.yaml` }));
  const root = dict({ source: { kind: "default", name: "" }, line: 0, column: 0 });
  for (const source of sources) mergeDicts(root, source, { root, path: [], env: {} });
  return plainFromNode(root);
}

describe("mergeDicts", () => {
  it.each([
    ["mappings key by key", "a: {x: 1, y: 1}", "a: {y: 2, z: 2}", { x: 1, y: 2, z: 2 }],
    ["an empty mapping changes nothing", "a: {x: 1}", "a: {}", { x: 1 }],
    ["null replaces a mapping", "a: {x: 1}", "a: ~", null],
    ["a mapping replaces null", "a: ~", "a: {x: 1}", { x: 1 }],
    ["a scalar replaces a mapping", "a: {x: 1}", "a: 5", 5],
    ["a scalar replaces a list", "a: [1]", "a: 5", 5],
    ["a list replaces a scalar", "a: 5", "a: [1]", [1]],
    ["a list replaces a list", "a: [{x: 1}, 2]", "a: [{y: 1}]", [{ y: 1 }]],
    ["??? does not erase", "a: 5", "a: ???", 5],
    ["??? does not erase a mapping", "a: {x: 1}", "a: ???", { x: 1 }],
    ["??? gives way", "a: ???", "a: 5", 5],
    [
      "an interpolated mapping is copied, then merged",
      "b: {x: 1, y: 1}\na: ${b}",
      "a: {y: 2}",
      { x: 1, y: 2 },
    ],
    ["whose target may come from the later file", "a: ${b}", "b: {x: 1}\na: {y: 2}", { x: 1, y: 2 }],
    ["a reference to a scalar gives way to a mapping", "b: 1\na: ${b}", "a: {y: 2}", { y: 2 }],
    ["so does one that leads nowhere", "a: ${nowhere}", "a: {y: 2}", { y: 2 }],
    ["and a directive", "b: {x: 1}\na: ${copy:b}", "a: {y: 2}", { y: 2 }],
  ])("%s", (_name, first, second, expected) => {
    expect(merge(first, second)).toMatchObject({ a: expected });
    expect((merge(first, second) as { a: unknown }).a).toEqual(expected);
  });

  it("keeps the order of existing keys and appends new ones", () => {
    expect(Object.keys(merge("b: 1\na: 1", "c: 1\na: 2") as object)).toEqual(["b", "a", "c"]);
  });

  it.each([
    ["a: {x: [1]}", "a: {x: {y: 1}}"],
    ["a: {x: {y: 1}}", "a: {x: [1]}"],
  ])("refuses to merge a list with a mapping: %s + %s", (first, second) => {
    try {
      merge(first, second);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).message).toMatch(
        /Cannot merge a (list|mapping) \(1.yaml:1:5\).*at 'a.x'/,
      );
      expect((error as ConfigError).position?.source).toBe("1.yaml");
    }
  });

  it("does not change its sources", () => {
    const first = readYaml("a: {x: 1}", { kind: "file", name: "1" });
    const second = readYaml("a: {y: 1}", { kind: "file", name: "2" });
    const root = dict(first.origin);
    mergeDicts(root, first, { root, path: [], env: {} });
    mergeDicts(root, second, { root, path: [], env: {} });
    expect(plainFromNode(first)).toEqual({ a: { x: 1 } });
    expect(plainFromNode(second)).toEqual({ a: { y: 1 } });
  });
});
