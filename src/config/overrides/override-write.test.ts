import { describe, expect, it } from "vitest";
import type { DictNode } from "../node.ts";
import { nodeFromPlain, plainFromNode } from "../plain-data.ts";
import { readConfigText } from "../read-config-file.ts";
import { resolveConfig } from "../resolve.ts";
import { applyOverrides } from "./apply-overrides.ts";
import { writeOverrides } from "./override-write.ts";

const origin = { source: { kind: "file", name: "test" }, line: 1, column: 1 } as const;
const words = (value: object) => writeOverrides(nodeFromPlain(value, origin, true) as DictNode);

describe("writeOverrides", () => {
  it("flattens mappings and writes lists as lists", () => {
    expect(
      words({ split: "benchmark", responses_create_params: { temperature: 0.6, nested: { a: 1 } } }),
    ).toEqual([
      "+split=benchmark",
      "+responses_create_params.temperature=0.6",
      "+responses_create_params.nested.a=1",
    ]);
    expect(words({ config_paths: ["benchmarks/a/config.yaml", "b.yaml"] })).toEqual([
      "+config_paths=[benchmarks/a/config.yaml,b.yaml]",
    ]);
  });

  it("quotes texts that would be read as other values", () => {
    expect(words({ a: "1", b: "true", c: "null", d: "a,b", e: "it's", f: "", g: "x=y" })).toEqual([
      "+a='1'",
      "+b='true'",
      "+c='null'",
      "+d='a,b'",
      "+e='it\\'s'",
      "+f=''",
      "+g='x=y'",
    ]);
  });

  it("keeps floats, and writes dotted keys as paths", () => {
    const node = readConfigText("a: 1.0\nb.c: 2\nd: 1e400\n", { kind: "file", name: "x.yaml" });
    expect(writeOverrides(node)).toEqual(["+a=1.0", "+b.c=2", "+d=inf"]);
  });

  it("writes keys that are invalid in paths inside a mapping, and rejects unreadable ones", () => {
    expect(words({ a: { "gpt-4.1 mini": 1 } })).toEqual(["+a={gpt-4.1 mini:1}"]);
    expect(() => words({ a: { "x:y": 1 } })).toThrow("'a' cannot be written as an override");
    expect(() => words({ "a b": 1 })).toThrow("'a b' cannot be written");
  });

  it("writes any values so that they read back", async () => {
    const hostile = [
      "$(reboot)",
      "`id`",
      "a\\'b",
      "\\",
      "\\\\'",
      "a\nb",
      "${x}",
      "{a: 1}",
      "[",
      "ä ö",
      " x ",
      "a#b",
      "~",
      "1e5",
      "inf",
      "'\"'",
    ];
    const value = {
      texts: hostile,
      deep: Object.fromEntries(hostile.map((text, index) => [`k${index}`, text])),
      empty: {},
      none: null,
      yes: true,
      list: [[1, { b: "c,d" }], []],
    };
    const root = applyOverrides(words(value), {});
    const config = await resolveConfig({
      initial: plainFromNode(root) as Record<string, unknown>,
      skipCli: true,
      skipEnvYaml: true,
      offline: true,
    });
    for (const [key, member] of Object.entries(value)) expect(config.toObject()[key]).toEqual(member);
  });
});
