import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify, type ToStringOptions } from "yaml";
import { ConfigError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { escapeInterpolations } from "./interpolation/interpolation-grammar.ts";
import { mergeDicts } from "./merge.ts";
import { cloneNode, type DictNode, type Origin, scalar } from "./node.ts";
import { applyOverrides } from "./overrides/apply-overrides.ts";
import { nodeFromPlain, plainFromNode } from "./plain-data.ts";
import { checkInterpolationSyntax, readConfigText } from "./read-config-file.ts";
import { loadConfigFromEnv } from "./resolve.ts";
import { readYamlValue } from "./yaml/read.ts";
import { writeYaml } from "./yaml/write.ts";

const source = { kind: "file", name: "main.yaml" } as const;
const origin: Origin = { source, line: 1, column: 1 };

/** Runs `read`; what it throws must be a ConfigError that knows where. */
function endsWell(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.position).toBeDefined();
    expect(error.message).not.toBe("");
  }
}

const anyText = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
/** Texts made of the pieces a grammar cares about get further than random characters. */
const piecesOf = (...pieces: string[]) =>
  fc
    .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...pieces) }, anyText), { maxLength: 12 })
    .map((parts) => parts.join(""));

const yamlText = piecesOf(
  "a: ",
  "b:\n",
  "\n",
  "  ",
  "- ",
  "[",
  "]",
  "{",
  "}",
  ", ",
  "'",
  '"',
  "&x ",
  "*x",
  "<<: ",
  "|\n",
  ">-\n",
  "#",
  "? ",
  ": ",
  "!!str ",
  "---\n",
  "%",
  "${a}",
  "???",
  "1e3",
  "~",
  "\t",
);
const overrideText = piecesOf(
  "+",
  "++",
  "~",
  "a",
  ".b",
  ".0",
  "=",
  "[",
  "]",
  "{",
  "}",
  ",",
  ":",
  "'",
  '"',
  "\\",
  " ",
  "1",
  "-2.5",
  "true",
  "null",
  "${x}",
  "int(",
  ")",
  "@",
  "/",
  "hydra.",
);
const interpolationText = piecesOf(
  "${",
  "}",
  "a",
  ".",
  "[",
  "]",
  "0",
  ":",
  "oc.env",
  "oc.select",
  "oc.decode",
  "copy",
  ",",
  "'",
  '"',
  "\\",
  "$",
  " ",
  "{",
  "x",
  "b",
);

describe("any text", () => {
  it("as YAML ends in a value or a ConfigError with a position", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, yamlText), (text) => endsWell(() => readConfigText(text, source))),
      { numRuns: 300 },
    );
  });

  it("as an override ends in a value or a ConfigError with a position", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, overrideText), { maxLength: 3 }), (words) =>
        endsWell(() => checkInterpolationSyntax(applyOverrides(words, {}))),
      ),
      { numRuns: 300 },
    );
  });

  it("as an interpolation ends in a value or a ConfigError with a position", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, interpolationText), interpolationText, (text, other) =>
        endsWell(() => {
          const root = nodeFromPlain({ a: { b: [1, { x: 2 }], x: other }, x: text }, origin) as DictNode;
          checkInterpolationSyntax(root);
          new Interpolator(root, { x: "${", a: "5" }).resolveDeep(root, []);
        }),
      ),
      { numRuns: 200 },
    );
  });
});

/** Values whose shape follows from the key, as in configs that belong together. */
const leaf = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.constant("???"),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
  tree: fc.record(
    { leaf1: leaf, leaf2: leaf, branch1: tie("tree"), branch2: tie("tree") },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, unknown>>,
}));

function merge(...nodes: DictNode[]): DictNode {
  const [first, ...rest] = nodes.map(cloneNode);
  if (first === undefined) throw new Error("nothing to merge");
  for (const node of rest) mergeDicts(first, node, { root: first, path: [], env: {} });
  return first;
}

describe("merge", () => {
  it("is associative if the sources have the same shapes", () => {
    fc.assert(
      fc.property(tree, tree, tree, (...trees) => {
        const [a, b, c] = trees.map((value) => nodeFromPlain(value, origin, true) as DictNode) as [
          DictNode,
          DictNode,
          DictNode,
        ];
        expect(plainFromNode(merge(merge(a, b), c))).toEqual(plainFromNode(merge(a, merge(b, c))));
      }),
    );
  });

  it("is idempotent and has the empty mapping as its neutral element", () => {
    fc.assert(
      fc.property(tree, (value) => {
        const node = nodeFromPlain(value, origin, true) as DictNode;
        const empty = nodeFromPlain({}, origin) as DictNode;
        expect(plainFromNode(merge(node, node))).toEqual(plainFromNode(node));
        expect(plainFromNode(merge(node, empty))).toEqual(plainFromNode(node));
        expect(plainFromNode(merge(empty, node))).toEqual(plainFromNode(node));
      }),
    );
  });
});

const text = fc
  .oneof(fc.string(), fc.string({ unit: "grapheme" }), yamlText, interpolationText)
  .filter((value) => value !== "???" && !/\p{Surrogate}/u.test(value));
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    text,
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(
      text.filter((key) => !key.startsWith("_")),
      tie("any"),
      { maxKeys: 4 },
    ),
  ),
})).any;

describe("YAML", () => {
  it("reads back what was written", () => {
    fc.assert(
      fc.property(value, (data) => {
        const node = nodeFromPlain(data, origin);
        expect(plainFromNode(readYamlValue(writeYaml(node), source))).toEqual(plainFromNode(node));
      }),
      { numRuns: 200 },
    );
  });

  it("reads the output of another YAML 1.1 writer in all its styles", () => {
    // Dialects differ about texts full of punctuation; about prose they agree.
    const words = fc.constantFrom(
      "yes",
      "12",
      "it's",
      '"so"',
      "a,b",
      "[x]",
      "#1",
      "k: v",
      "Zoë",
      "日本",
      "1e3",
      "~",
      "-",
      "end",
    );
    const prose = fc
      .tuple(
        fc.constantFrom("One", "no", "7"),
        fc.array(words, { maxLength: 12 }),
        fc.constantFrom(" ", "\n"),
      )
      .map(([first, rest, separator]) => [first, ...rest, "end"].join(separator));
    const data = fc.object({
      key: prose,
      values: [prose, fc.integer(), fc.boolean(), fc.constant(null)],
      maxDepth: 3,
    });
    const text = fc.oneof(
      fc.record({
        defaultStringType: fc.constantFrom("PLAIN", "QUOTE_SINGLE", "QUOTE_DOUBLE"),
        lineWidth: fc.constantFrom(0, 80),
      }),
      fc.constant({ defaultStringType: "BLOCK_LITERAL", lineWidth: 0 }),
    );
    const layout = fc.record({
      collectionStyle: fc.constantFrom("any", "flow"),
      defaultKeyType: fc.constantFrom("PLAIN", "QUOTE_DOUBLE"),
      indentSeq: fc.boolean(),
      indent: fc.integer({ min: 1, max: 5 }),
    });
    const style = fc.tuple(text, layout).map((parts) => Object.assign({}, ...parts) as ToStringOptions);
    fc.assert(
      fc.property(data, style, (object, options) => {
        const written = stringify(object, { version: "1.1", aliasDuplicateObjects: false, ...options });
        expect(plainFromNode(readYamlValue(written, source))).toEqual(
          plainFromNode(nodeFromPlain(object, origin)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("resolve(dump(resolve(x))) = resolve(x)", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^k[a-z0-9_]{0,6}$/), value, { maxKeys: 5 }),
        text,
        (data, literal) => {
          const keys = Object.keys(data);
          const root = nodeFromPlain(mapTexts(data, escapeInterpolations), origin) as DictNode;
          root.entries.set("literal", scalar(escapeInterpolations(literal), origin));
          for (const key of keys) root.entries.set(`to_${key}`, scalar(`\${${key}}`, origin));
          root.entries.set("joined", scalar(keys.map((key) => `<\${${key}}>`).join(""), origin));
          const first = loadConfigFromEnv(writeYaml(root), {});
          const second = loadConfigFromEnv(first.toYaml({ resolve: true }), {});
          expect(second.toObject()).toEqual(first.toObject());
          expect(second.toYaml({ resolve: true })).toBe(first.toYaml({ resolve: true }));
          expect(first.get("literal")).toBe(literal);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function mapTexts(data: unknown, map: (text: string) => string): unknown {
  if (typeof data === "string") return map(data);
  if (Array.isArray(data)) return data.map((item) => mapTexts(item, map));
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, member]) => [key, mapTexts(member, map)]));
}
