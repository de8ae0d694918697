import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { installRoot } from "../../config/paths.ts";
import { plainFromNode } from "../../config/plain-data.ts";
import { readYaml } from "../../config/yaml/read.ts";
import { readPlainYaml } from "./plain-yaml.ts";

const source = { kind: "file", name: "test.yaml" } as const;

function quick(text: string): unknown {
  const root = readPlainYaml(text, source);
  return root === undefined ? undefined : plainFromNode(root);
}

/** Whatever the quick reader answers must be what the full one answers. */
function expectAgreement(text: string): void {
  const answer = quick(text);
  if (answer !== undefined) expect(answer).toEqual(plainFromNode(readYaml(text, source)));
}

describe("readPlainYaml", () => {
  it("reads the style of most configs", () => {
    const text = `# a comment
config_paths:
- resources_servers/quiz/configs/quiz.yaml

quiz:
  resources_servers:
    quiz:
      entrypoint: app.ts
      description: 'Questions, answers'
      port: 7001
      verified: no
      labels: []
agent:
  _inherit_from: quiz_agent
  list:
    - name: a
      type: benchmark
      nothing:
    - name: "b c"
    - - 1
      - 2.5
`;
    expect(quick(text)).toEqual({
      config_paths: ["resources_servers/quiz/configs/quiz.yaml"],
      quiz: {
        resources_servers: {
          quiz: {
            entrypoint: "app.ts",
            description: "Questions, answers",
            port: 7001,
            verified: false,
            labels: [],
          },
        },
      },
      agent: {
        _inherit_from: "quiz_agent",
        list: [{ name: "a", type: "benchmark", nothing: null }, { name: "b c" }, [1, 2.5]],
      },
    });
    expectAgreement(text);
  });

  it.each([
    ["flow style", "a: {b: 1}\n"],
    ["an interpolation", "a: ${b}\n"],
    ["a folded text", "a: >\n  text\n"],
    ["a block text with lines of blanks", "a: |\n  text\n   \n"],
    ["an empty block text", "a: |\nb: 1\n"],
    ["an anchor", "a: &x 1\n"],
    ["a text over two lines", "a: one\n  two\n"],
    ["a comment behind a value", "a: one # two\n"],
    ["an escape", 'a: "\\n"\n'],
    ["a key given twice", "a: 1\na: 2\n"],
    ["a wrong indentation", "a:\n    b: 1\n  c: 2\n"],
    ["a list beside keys", "a: 1\n- b\n"],
    ["a document marker", "---\na: 1\n"],
    ["a tab", "a:\tb\n"],
    ["a key that is no text", "yes: 1\n"],
  ])("leaves %s to the full reader", (_, text) => {
    expect(readPlainYaml(text, source)).toBeUndefined();
  });

  it.each([
    "a: |\n  one\n   two  \n\n  # three\n\nb: 1\n",
    "a: |-\n\n  one: 1\n  - two\n\n\n",
    "a:\n  b: |\n    text\n  c: |-\n    more",
    "a:\n- b: |\n    text\n  c: 2\n",
  ])("reads block texts: %j", (text) => {
    expect(quick(text)).toBeDefined();
    expectAgreement(text);
  });

  it("reads lists of numbers", () => {
    expect(quick("range: [-1, 0.5]\n")).toEqual({ range: [-1, 0.5] });
    expectAgreement("range: [-1, 0.5, 010]\n");
  });

  it("agrees with the full reader on every config of this repository", () => {
    const root = installRoot();
    for (const folder of [
      "resources_servers",
      "responses_api_agents",
      "responses_api_models",
      "benchmarks",
      "environments",
    ]) {
      for (const file of yamlBelow(path.join(root, folder))) expectAgreement(readFileSync(file, "utf8"));
    }
  });

  it("agrees with the full reader on whatever looks like a config", () => {
    const word = fc.constantFrom(
      "a",
      "b_1",
      "yes",
      "null",
      "1",
      "-1",
      "1.5",
      "0x1f",
      "x y",
      "'q'",
      '"q"',
      "[]",
      "[a, b_1 ,yes]",
      "[ a]",
      "[0, -1.5,007]",
      "[1_0, 1.]",
      "|",
      "|-",
      "???",
      "'a\\\\b'",
      "{}",
      "a:b",
      "...",
      "-",
      "#c",
      "é",
      "10:30",
      "",
    );
    const line = fc
      .tuple(
        fc.nat(3),
        fc.constantFrom("", "- ", "- - ", "-"),
        fc.constantFrom("a:", "b:", "c: ", "", "no:"),
        word,
      )
      .map(([indent, dash, key, value]) => `${"  ".repeat(indent)}${dash}${key} ${value}`.trimEnd());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const text = `${lines.join("\n")}\n`;
        const answer = quick(text);
        if (answer === undefined) return;
        expect(answer).toEqual(plainFromNode(readYaml(text, source)));
      }),
      { numRuns: 20_000 },
    );
  });

  it("takes linear time", () => {
    const started = performance.now();
    quick(`a: ${"- ".repeat(500_000)}\n`);
    quick(`${"  ".repeat(500_000)}a: 1\n`);
    quick(`a: ${"b ".repeat(500_000)}:\n`);
    quick(`a: ${" ".repeat(1_000_000)}b${" ".repeat(1_000_000)}\n`);
    quick(`a: ${" ".repeat(1_000_000)}\n- ${" ".repeat(1_000_000)}\n`);
    quick(`a: |\n  b\n${"\n".repeat(1_000_000)}  c\n`);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

function yamlBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".yaml") && !file.includes("node_modules"))
      .map((file) => path.join(folder, file));
  } catch {
    return [];
  }
}
