import { describe, expect, it } from "vitest";
import { ConfigInterpolationError } from "../errors.ts";
import { plainFromNode } from "../plain-data.ts";
import { readYaml } from "../yaml/read.ts";
import { Interpolator } from "./interpolate.ts";
import { escapeInterpolations, parseText } from "./interpolation-grammar.ts";

const source = { kind: "file", name: "main.yaml" } as const;

function resolve(text: string, env: NodeJS.ProcessEnv = {}): unknown {
  const root = readYaml(text, source);
  return plainFromNode(new Interpolator(root, env).resolveDeep(root, []));
}

function failure(text: string, env: NodeJS.ProcessEnv = {}): ConfigInterpolationError {
  try {
    resolve(text, env);
  } catch (error) {
    if (error instanceof ConfigInterpolationError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

/** The value of `x` beside the given keys. */
const valueOfX = (x: string, rest = "", env: NodeJS.ProcessEnv = {}) =>
  (resolve(`x: '${x.replaceAll("'", "''")}'\n${rest}`, env) as { x: unknown }).x;

describe("references", () => {
  it("keep the type of their target if they are the whole value, and become text otherwise", () => {
    expect(valueOfX("${n}", "n: 7\n")).toBe(7);
    expect(valueOfX("n=${n}!", "n: 7\n")).toBe("n=7!");
    expect(valueOfX("${box}", "box: {n: [1, ~]}\n")).toEqual({ n: [1, null] });
    expect(valueOfX("${a}-${b}-${c}", "a: true\nb: ~\nc: 1.0\n")).toBe("True-None-1.0");
    expect(valueOfX("see ${l}", "l: [1, 'b']\n")).toBe("see [1, 'b']");
  });

  it("index lists and mappings", () => {
    const rest = "l: [4, {k: 5}]\nm: {k: 6, '0': 7, 1: 8}\n";
    expect(valueOfX("${l[0]}", rest)).toBe(4);
    expect(valueOfX("${l.1.k}", rest)).toBe(5);
    expect(valueOfX("${m[k]}", rest)).toBe(6);
    expect(valueOfX("${m.1}", rest)).toBe(8);
  });

  it("count relative paths from the containing dict", () => {
    expect(resolve("rel:\n  a: 1\n  b: ${.a}\n  in:\n    c: ${..a}\n    d: ${...top}\ntop: 2\n")).toEqual({
      rel: { a: 1, b: 1, in: { c: 1, d: 2 } },
      top: 2,
    });
  });

  it("resolve relative references inside a target from its own position", () => {
    expect(resolve("a: {n: 1, m: '${.n}'}\nb: ${a}\n")).toEqual({ a: { n: 1, m: 1 }, b: { n: 1, m: 1 } });
  });

  it("may be computed", () => {
    expect(valueOfX("${models.${which}}", "which: big\nmodels: {big: 70}\n")).toBe(70);
    expect(valueOfX("${${which}}", "which: a.b\na: {b: 3}\n")).toBe(3);
  });

  it("go through other interpolations", () => {
    expect(valueOfX("${b.n}", "a: {n: 1}\nb: ${a}\n")).toBe(1);
  });

  it("are literal after a backslash", () => {
    expect(valueOfX("\\${n}", "n: 1\n")).toBe("${n}");
    expect(valueOfX("\\\\${n}", "n: 1\n")).toBe("\\1");
    expect(valueOfX("\\\\\\${n}", "n: 1\n")).toBe("\\${n}");
    expect(valueOfX("a\\b ${n} $5", "n: 1\n")).toBe("a\\b 1 $5");
    expect(valueOfX("${y}", "y: \\${n}\nn: 1\n")).toBe("${n}");
  });
});

describe("resolvers", () => {
  it("oc.env returns text, also for defaults except null", () => {
    const env = { SET: "42", EMPTY: "" };
    expect(valueOfX("${oc.env:SET}", "", env)).toBe("42");
    expect(valueOfX("${oc.env:EMPTY,x}", "", env)).toBe("");
    expect(valueOfX("${oc.env:UNSET,5}", "", env)).toBe("5");
    expect(valueOfX("${oc.env:UNSET,false}", "", env)).toBe("False");
    expect(valueOfX("${oc.env:UNSET,1e-6}", "", env)).toBe("1e-06");
    expect(valueOfX("${oc.env:UNSET,null}", "", env)).toBeNull();
    expect(valueOfX("${oc.env:UNSET,${n}}", "n: 3\n", env)).toBe("3");
    expect(valueOfX("${oc.env:UNSET,'a, ${n}'}", "n: 3\n", env)).toBe("a, 3");
    expect(valueOfX("${oc.env:UNSET,[1,b]}", "", env)).toBe("[1, 'b']");
    expect(valueOfX("${oc.env:UNSET,}", "", env)).toBe("");
    expect(valueOfX("http://${oc.env:UNSET,h:8/v1}/x", "", env)).toBe("http://h:8/v1/x");
    expect(valueOfX("${oc.env:SECRET}", "n: 1\n", { SECRET: "${n}" })).toBe("${n}");
  });

  it("oc.create, oc.deprecated and oc.dict return values of the config", () => {
    const rest = 'd: {k: 1, m: "${n}"}\nn: two\n';
    expect(valueOfX("${oc.create:{a:[1,${n}]}}", rest)).toEqual({ a: [1, "two"] });
    expect(valueOfX("${oc.deprecated:n}", rest)).toBe("two");
    expect(valueOfX("${oc.dict.keys:d}", rest)).toEqual(["k", "m"]);
    expect(valueOfX("${oc.dict.values:d}", rest)).toEqual([1, "two"]);
    expect(failure("x: '${oc.dict.keys:n}'\nn: 1\n").message).toContain("the path of a mapping");
    expect(failure("x: '${oc.deprecated:gone}'\n").message).toContain("no 'gone'");
  });

  it("oc.select falls back when the key is absent or unset, keeping types", () => {
    const rest = "p: 1\nnothing: ~\nunset: ???\n";
    expect(valueOfX("${oc.select:p,9}", rest)).toBe(1);
    expect(valueOfX("${oc.select:q,9}", rest)).toBe(9);
    expect(valueOfX("${oc.select:q}", rest)).toBeNull();
    expect(valueOfX("${oc.select:nothing,9}", rest)).toBeNull();
    expect(valueOfX("${oc.select:unset,9}", rest)).toBe(9);
    expect(valueOfX("${oc.select:p.deep,9}", rest)).toBe(9);
    expect(valueOfX("${oc.select:q.r,some-model}", rest)).toBe("some-model");
    expect(valueOfX("${oc.select:q,${p}}", rest)).toBe(1);
    expect(valueOfX("${oc.select:.p}", rest)).toBe(1);
  });

  it("oc.decode types a text", () => {
    expect(valueOfX("${oc.decode:'[1, {a: true}]'}")).toEqual([1, { a: true }]);
    expect(valueOfX("${oc.decode:${oc.env:N}}", "", { N: "7" })).toBe(7);
    expect(valueOfX("${oc.decode:null}")).toBeNull();
  });

  it("directives that were not applied stay as written", () => {
    expect(resolve("l: ['${copy:src.x}', '${inherit_from:src}']\n")).toEqual({
      l: ["${copy:src.x}", "${inherit_from:src}"],
    });
  });
});

describe("failures", () => {
  it("name the holder, the key and an override, with the position", () => {
    const error = failure("dock: {nam: 1}\nboat: ${dock.name}\n");
    expect(error.message).toContain(
      "Config value 'boat' references 'dock.name', which is not defined (main.yaml:2:7)",
    );
    expect(error.message).toContain("Did you mean 'dock.nam'?");
    expect(error.message).toContain("++dock.name=<value>");
    expect(error.position).toEqual({ source: "main.yaml", line: 2, column: 7 });
  });

  it.each([
    ["a: ${oc.env:NOPE}\n", "environment variable 'NOPE' is not set"],
    ["a: ${oc.env:__proto__}\n", "environment variable '__proto__' is not set"],
    ["a: ${__proto__.x}\n", "'__proto__.x', which is not defined"],
    ["a: ${oc.envv:X}\n", "unsupported interpolation type 'oc.envv'; did you mean 'oc.env'?"],
    ["a: ${constructor:X}\n", "unsupported interpolation type 'constructor'"],
    ["a: ${b}\nb: ${a}\n", "recursive"],
    ["a: ${a}\n", "recursive"],
    ["a: {b: '${a}'}\n", "contains it"],
    ["a: {b: '${c}'}\nc: {d: '${a}'}\n", "recursive"],
    ["a: ${b}\nb: ???\n", "still ???"],
    ["a: ${.....b}\n", "'b', which is not defined"],
    ["a: ${b.c}\nb: ~\n", "'b.c', which is not defined"],
    ["a: ${oc.env:5}\n", "needs a text"],
  ])("say what is wrong with %j", (text, problem) => {
    expect(failure(text).message).toContain(problem);
  });

  it.each([
    "${",
    "${a",
    "${a.}",
    "${}",
    "${a b}",
    "x ${a[0}",
    "${oc.env:A,'x}",
    "${a${b}}",
    "${oc.env:a=b}",
    "${[}",
  ])("reject the syntax of %j", (text) => {
    expect(() => parseText(text)).toThrow(ConfigInterpolationError);
  });

  it("limit texts and values that grow by copying each other", () => {
    const doubling = (form: (previous: string) => string) =>
      Array.from(
        { length: 40 },
        (_, level) => `l${level}: ${level === 0 ? "xx" : form(`\${l${level - 1}}`)}`,
      ).join("\n");
    expect(failure(`${doubling((previous) => `${previous}${previous}`)}\n`).message).toContain("characters");
    expect(failure(`${doubling((previous) => `['${previous}', '${previous}']`)}\n`).message).toContain(
      "values",
    );
  });

  it("limit long chains", () => {
    const chain = Array.from({ length: 5000 }, (_, level) => `k${level}: \${k${level + 1}}`).join("\n");
    expect(failure(`${chain}\nk5000: 1\n`).message).toContain("refer to each other");
  });
});

describe("escapeInterpolations", () => {
  it.each(["${a}", "\\${a}", "x\\\\${a} $b", "${${a}}", "plain \\ $"])("escapes %j", (text) => {
    expect(parseText(escapeInterpolations(text))).toEqual([text]);
  });
});
