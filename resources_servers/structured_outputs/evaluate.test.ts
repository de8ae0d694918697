import { PyFloat } from "nemo-gym/python";
import { describe, expect, it } from "vitest";
import { coerceCsv, coerceXml } from "./coerce.ts";
import { payloadFault, textFault } from "./evaluate.ts";
import type { Format } from "./row.ts";
import { strictify } from "./strictify.ts";

const schema = JSON.stringify({
  type: "object",
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
});
const rooted = JSON.stringify({ type: "object", properties: { person: JSON.parse(schema) } });
const table = JSON.stringify({
  type: "array",
  minItems: 1,
  items: { type: "object", properties: { name: { type: "string" }, age: { type: ["integer", "null"] } } },
});

function faultType(
  text: string,
  format: Format,
  schemaText: string,
  coerceXmlTypes = true,
): string | undefined {
  return textFault(text, format, schemaText, { coerceXmlTypes })?.type;
}

describe("textFault", () => {
  it.each<[Format, string, string, string | undefined]>([
    ["json", '{"name": "Ann", "age": 3, "tags": []}', schema, undefined],
    ["json", '{"name": "Ann", "age": 3}', schema, "validation_error"],
    ["json", '{"name": "Ann", "age": 3, "tags": [], "x": 1}', schema, "validation_error"],
    ["json", '```json\n{"name": "Ann"}\n```', schema, "parse_error"],
    ["json", " \n", schema, "empty_response"],
    ["json", "{}", "not a schema", "schema_error"],
    ["json", "{}", '{"type": "bogus"}', "validation_error"],
    ["yaml", "name: Ann\nage: 010\ntags: [a]", schema, undefined],
    ["yaml", "name: no\nage: 3\ntags: []", schema, "validation_error"],
    ["yaml", "name: 2024-01-01\nage: 3\ntags: []", schema, "validation_error"],
    ["yaml", "name: a: b", schema, "parse_error"],
    ["toml", 'name = "Ann"\nage = 3\ntags = ["a"]', schema, undefined],
    ["toml", 'name = "Ann"\nage = 3\ntags = {}', schema, "validation_error"],
    ["toml", "name = Ann", schema, "parse_error"],
    ["xml", "<person><name>Ann</name><age> 3 </age><tags><t>a</t></tags></person>", rooted, undefined],
    ["xml", "<person><name/><age>3</age><tags/></person>", rooted, undefined],
    ["xml", "<person><name>Ann</name><age>three</age><tags/></person>", rooted, "validation_error"],
    ["xml", "<person><name>Ann</name>", rooted, "parse_error"],
    ["csv", "name,age\nAnn,3\nBob,", table, undefined],
    ["csv", "name,age\nAnn,3,4", table, "validation_error"],
    ["csv", "name,age\nAnn,three", table, "validation_error"],
    ["csv", "name,age", table, "validation_error"],
    ["csv", "name\rage", table, "parse_error"],
    ["csv", "name,age\nAnn,3", "true", "validation_error"],
  ])("%s %j", (format, text, schemaText, type) => {
    expect(faultType(text, format, schemaText)).toBe(type);
  });

  it("keeps XML values as text if xml_coerce_types is false", () => {
    const text = "<person><name>Ann</name><age>3</age><tags><t>a</t><t>b</t></tags></person>";
    expect(faultType(text, "xml", rooted, true)).toBeUndefined();
    expect(faultType(text, "xml", rooted, false)).toBe("validation_error");
  });
});

describe("payloadFault", () => {
  it("validates parsed data", () => {
    expect(payloadFault({ name: "Ann", age: 3, tags: [] }, schema)).toBeUndefined();
    expect(payloadFault({ name: "Ann" }, schema)?.type).toBe("validation_error");
    expect(payloadFault({}, "[")?.type).toBe("schema_error");
  });
});

describe("strictify", () => {
  it("changes objects nested in objects, but not in lists", () => {
    const open = { properties: { a: { properties: { b: true } } }, anyOf: [{ properties: { c: true } }] };
    strictify(open);
    expect(open).toMatchObject({
      required: ["a"],
      additionalProperties: false,
      properties: { a: { required: ["b"], additionalProperties: false } },
    });
    expect(open.anyOf[0]).toEqual({ properties: { c: true } });
  });

  it("breaks a schema with a property named properties, like the original", () => {
    expect(
      payloadFault({ properties: "x" }, '{"properties": {"properties": {"type": "string"}}}')?.type,
    ).toBe("validation_error");
  });

  it("reports invalid properties as an error of the schema", () => {
    expect(payloadFault({}, '{"properties": 5}')?.type).toBe("schema_error");
  });
});

describe("coercion", () => {
  it("reads numbers and booleans as Python does", () => {
    const typed = (type: string, text: string) => coerceXml(text, { type });
    expect(["+3", "03", " 3 ", "1_000", "٣"].map((text) => typed("integer", text))).toEqual([
      3, 3, 3, 1000, 3,
    ]);
    expect(["3.0", "x", ""].map((text) => typed("integer", text))).toEqual(["3.0", "x", ""]);
    expect([typed("number", "1e3"), typed("number", "nan"), typed("number", ".5")]).toEqual([
      new PyFloat(1000),
      Number.NaN,
      0.5,
    ]);
    expect(["True", "1", "FALSE", "0", "yes"].map((text) => typed("boolean", text))).toEqual([
      true,
      true,
      false,
      false,
      "yes",
    ]);
  });

  it("uses the first type of a list that fits a cell", () => {
    const schemaOf = (type: unknown) => ({ items: { properties: { a: { type } } } });
    expect(coerceCsv([{ a: "3" }], schemaOf(["integer", "string"]))).toEqual([{ a: 3 }]);
    expect(coerceCsv([{ a: "x" }], schemaOf(["integer", "string"]))).toEqual([{ a: "x" }]);
    expect(coerceCsv([{ a: "" }], schemaOf(["integer", "null"]))).toEqual([{ a: null }]);
    expect(coerceCsv([{ a: "" }], schemaOf("integer"))).toEqual([{ a: "" }]);
  });
});

describe("hostile outputs", () => {
  const deep = 100_000;
  it.each<[string, Format, string]>([
    ["deep JSON", "json", "[".repeat(deep)],
    ["closed deep JSON", "json", "[".repeat(deep) + "]".repeat(deep)],
    ["a huge JSON integer", "json", "9".repeat(100_000)],
    ["lone surrogates", "json", '{"name": "\\ud800"}'],
    ["deep YAML", "yaml", "- ".repeat(deep)],
    ["YAML flow", "yaml", "{a: ".repeat(deep)],
    ["YAML quotes", "yaml", `"${"\\x".repeat(500_000)}`],
    ["YAML dashes", "yaml", "-".repeat(2_000_000)],
    ["deep XML", "xml", "<a>".repeat(deep) + "</a>".repeat(deep)],
    ["XML attributes", "xml", `<a${Array.from({ length: 50_000 }, (_, i) => ` x${i}="1"`).join("")}/>`],
    ["XML entities", "xml", `<a>${"&".repeat(1_000_000)}</a>`],
    ["open XML comments", "xml", `<a>${"<!--".repeat(250_000)}`],
    ["deep TOML", "toml", `a = ${"[".repeat(deep)}`],
    ["TOML dots", "toml", `${"a.".repeat(20_000)}b = 1`],
    ["TOML tables", "toml", "[[a]]\n".repeat(200_000)],
    ["CSV quotes", "csv", '"'.repeat(2_000_000)],
    ["CSV rows", "csv", `a\n${"1\n".repeat(500_000)}`],
    ["five megabytes", "json", `"${"x".repeat(5_000_000)}"`],
  ])("%s", (_name, format, text) => {
    expect(faultType(text, format, format === "xml" ? rooted : schema)).toBeDefined();
  });

  it("limits the time of slow patterns in the schema", () => {
    const slow = JSON.stringify({ type: "string", pattern: "^(a+)+$" });
    expect(faultType(`"${"a".repeat(500_000)}!"`, "json", slow)).toBe("validation_error");
  });
});
