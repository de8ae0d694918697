import { describe, expect, it } from "vitest";
import { ConfigError } from "../errors.ts";
import { plainFromNode } from "../plain-data.ts";
import { readYaml, readYamlValue } from "./read.ts";

const source = { kind: "file", name: "main.yaml" } as const;
const read = (text: string) => plainFromNode(readYaml(text, source));

function failure(text: string): ConfigError {
  try {
    readYaml(text, source);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

describe("readYaml", () => {
  it("reads anchors, aliases and merge keys", () => {
    const text = "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\ne: {<<: [{f: 1}, {f: 2, g: 3}]}\n";
    expect(read(text)).toEqual({ a: { b: 1, c: 2 }, d: { b: 1, c: 3 }, e: { f: 1, g: 3 } });
  });

  it("resolves an alias to the last anchor with its name", () => {
    expect(read("a: &x 1\nb: *x\nc: &x 2\nd: *x\n")).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });

  it("keeps positions of values", () => {
    const root = readYaml("a:\n  b: 5\n", source);
    const inner = root.entries.get("a");
    expect(inner?.kind === "dict" && inner.entries.get("b")?.origin).toMatchObject({ line: 2, column: 6 });
  });

  it("treats an empty file as an empty mapping and a bare word as a key", () => {
    expect(read("")).toEqual({});
    expect(read("# nothing\n")).toEqual({});
    expect(read("word\n")).toEqual({ word: null });
  });

  it("reads tagged values", () => {
    expect(read("a: !!str 5\nb: !!int '7'\nc: !!float 3\nd: !!bool yes\ne: ! 5\nf: !!float 3.0\n")).toEqual({
      a: "5",
      b: 7,
      c: 3,
      d: true,
      e: 5,
      f: 3,
    });
  });

  it("accepts numbers and booleans as keys, and treats equal ones as one key", () => {
    expect(read("{1: a, true: b, 1.5: c}\n")).toEqual({ "1": "b", "1.5": "c" });
  });

  it("treats __proto__ as a normal key", () => {
    const value = read(
      '__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\n"a":\n  __proto__: 2\n',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor", "a"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    ["unclosed list", "ok: 1\nbad: [1, 2\nnext: 3\n", 3, "expected ',' or ']', but found ':'"],
    ["duplicate key", "oak: 1\noak: 2\n", 2, "found duplicate key 'oak'"],
    ["bare ??? in flow style", "a: {x: ???}\n", 1, "put text that starts with it in quotes"],
    ["stray indentation", "a: 1\n b: 2\n", 2, "mapping values are not allowed here"],
    ["two colons", "a: b: c\n", 1, "mapping values are not allowed here"],
    ["tab", "a:\n\tb: 1\n", 2, "found a tab"],
    ["unclosed quote", "a: 'x\nb: 1\n", 3, "before the closing '"],
    ["second document", "---\na: 1\n---\nb: 2\n", 3, "single document"],
    ["undefined alias", "x: 1\na: *x\n", 2, "undefined alias 'x'"],
    ["anchor inside itself", "a: &x [*x]\n", 1, "contains itself"],
    ["unknown tag", "a: !foo x\n", 1, "'!foo' is not supported"],
    ["tag of another type", "a: !!int 09\n", 1, "'!!int' is not supported"],
    ["null key", "~: 1\n", 1, "must not be null"],
    ["list as key", "? [1, 2]\n: 3\n", 1, "must be a single value"],
    ["control character", "a: 1\nb: \u0000\n", 2, "U+0000"],
    ["merge of a number", "<<: 5\n", 1, "takes a mapping"],
  ])("reports the position of: %s", (_name, text, line, problem) => {
    const error = failure(text);
    expect(error.message).toContain(`Malformed YAML in 'main.yaml' at line ${line}, column `);
    expect(error.message).toContain(problem);
    expect(error.position).toMatchObject({ source: "main.yaml", line });
    expect(error.code).toBe("CONFIG_YAML");
  });

  it.each(["- 1\n- 2\n", "5\n", "true\n"])("rejects a file that is not a mapping: %j", (text) => {
    expect(failure(text).message).toContain("must be a mapping");
  });

  it("limits the expansion of aliases", () => {
    const levels = Array.from({ length: 30 }, (_, level) =>
      level === 0 ? "l0: &l0 [x, x]" : `l${level}: &l${level} [*l${level - 1}, *l${level - 1}]`,
    );
    expect(failure(`${levels.join("\n")}\n`).message).toContain("aliases expand to more than");
  });

  it.each([
    ["brackets", `a: ${"[".repeat(100_000)}`],
    ["closed brackets", `a: ${"[".repeat(900)}${"]".repeat(900)}`],
    ["dashes", `${"- ".repeat(3000)}x`],
    ["indentation", Array.from({ length: 300 }, (_, level) => `${" ".repeat(level)}a:`).join("\n")],
  ])("limits nesting by %s", (_name, text) => {
    expect(failure(`${text}\n`).message).toMatch(/nested (too deeply|deeper)/);
  });

  it("strips a byte order mark", () => {
    expect(read("\uFEFFa: 1\n")).toEqual({ a: 1 });
  });
});

describe("readYamlValue", () => {
  it("reads documents that are not mappings", () => {
    expect(plainFromNode(readYamlValue("[1, two, ~]", source))).toEqual([1, "two", null]);
  });
});
