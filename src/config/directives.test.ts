import { describe, expect, it } from "vitest";
import { applyDirectives } from "./directives.ts";
import { ConfigError, InheritPathNotFoundError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { plainFromNode } from "./plain-data.ts";
import { readYaml } from "./yaml/read.ts";

function apply(text: string): unknown {
  const root = readYaml(text, { kind: "file", name: "main.yaml" });
  applyDirectives(root, {});
  return plainFromNode(new Interpolator(root, {}).resolveDeep(root, []));
}

function failure(text: string): Error {
  try {
    apply(text);
  } catch (error) {
    return error as Error;
  }
  throw new Error("was accepted");
}

describe("applyDirectives", () => {
  it("moves the source with inherit and keeps it with copy", () => {
    expect(apply("a: ${inherit_from:b}\nb: {x: 1}\n")).toEqual({ a: { x: 1 } });
    expect(apply("a: ${copy:b.x}\nb: {x: 1}\n")).toEqual({ a: 1, b: { x: 1 } });
    expect(apply("a: {_inherit_from: b.c}\nb: {c: {x: 1}, d: 2}\n")).toEqual({ a: { x: 1 }, b: { d: 2 } });
  });

  it("merges local keys over the source, with the keys of the source first", () => {
    const result = apply("a: {new: 1, _copy: b, x: 9, l: [1]}\nb: {x: 1, y: 2, l: [2, 3]}\n") as {
      a: object;
    };
    expect(result.a).toEqual({ x: 9, y: 2, l: [1], new: 1 });
    expect(Object.keys(result.a)).toEqual(["x", "y", "l", "new"]);
  });

  it("reads the snapshot, so several targets may inherit and chains are not followed", () => {
    expect(apply("a: {_inherit_from: s, n: 1}\nb: {_inherit_from: s, n: 2}\ns: {x: 1, n: 0}\n")).toEqual({
      a: { x: 1, n: 1 },
      b: { x: 1, n: 2 },
    });
    expect(apply("a: {_copy: b}\nb: {_copy: c, y: 1}\nc: {x: 1}\n")).toEqual({
      a: { _copy: "c", y: 1 },
      b: { x: 1, y: 1 },
      c: { x: 1 },
    });
  });

  it("deletes local keys first, then inherited ones", () => {
    expect(apply("t: {_inherit_from: s, _delete_key: 'a, mine', mine: 1, b: 5}\ns: {a: 1, b: 2}\n")).toEqual({
      t: { b: 5 },
    });
    expect(apply("t: {_copy: s, _delete_key: x, x: 1}\ns: {x: 2}\n")).toEqual({ t: { x: 2 }, s: { x: 2 } });
    expect(apply("t: {_delete_key: 'x,nope', x: 1, y: 2}\n")).toEqual({ t: { y: 2 } });
  });

  it("works inside dicts in lists, not as a list element", () => {
    expect(apply("l:\n- q: {_copy: s}\n  r: ${copy:s.x}\n- ${copy:s}\ns: {x: 1}\n")).toEqual({
      l: [{ q: { x: 1 }, r: 1 }, "${copy:s}"],
      s: { x: 1 },
    });
  });

  it("does nothing at the top level and inside longer text", () => {
    expect(apply("_copy: b\n_delete_key: b\nb: {x: 1}\nt: 'x ${copy:b}'\n")).toEqual({
      _copy: "b",
      _delete_key: "b",
      b: { x: 1 },
      t: "x ${copy:b}",
    });
  });

  it("resolves copied relative interpolations at their new position", () => {
    expect(apply("a: {_copy: b, n: 2}\nb: {n: 1, m: '${.n}'}\n")).toEqual({
      a: { n: 2, m: 2 },
      b: { n: 1, m: 1 },
    });
  });

  it("copies ???", () => {
    expect(apply("a: ${copy:b.x}\nb:\n  x: ???\n")).toEqual({ a: "???", b: { x: "???" } });
    expect(apply("a: {_copy: b.x}\nb: ???\n")).toEqual({ a: "???", b: "???" });
  });

  it.each(["far.away", "s.nothing", "s.x.deep", "n.x", ""])("reports the unknown source %j", (path) => {
    const error = failure(`t: {_inherit_from: '${path}'}\ns: {x: 1}\nn: ~\n`);
    expect(error).toBeInstanceOf(InheritPathNotFoundError);
    expect(error.message).toContain(`'${path}'`);
    expect(error.message).toContain("does not exist in config (main.yaml:1:1)");
  });

  it.each([
    ["t: {_copy: s}\ns: [1]\n", "needs a mapping as its source, not a list"],
    ["t: {_copy: s}\ns: 1\n", "not a single value"],
    ["t: {_copy: s, _inherit_from: s}\ns: {x: 1}\n", "both _inherit_from and _copy"],
    ["t: {_copy: 5}\n", "must be the path"],
    ["t: {_copy: s, _delete_key: nope}\ns: {x: 1}\n", "names 'nope'"],
    ["t: {_delete_key: [x]}\n", "must be a string"],
  ])("rejects %j", (text, problem) => {
    const error = failure(text);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(problem);
    expect((error as ConfigError).code).toBe("CONFIG_DIRECTIVE");
  });
});
