import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { decodeEscapes, extractCode } from "./extract-code.ts";
import { pathExists, tokenizePath } from "./paths.ts";

const raw = String.raw;

async function verify(text: string, output_type: string, raw_output_metric: unknown, config = {}) {
  const server = await createTestServer(definition, { config });
  const row = { task_id: "1", task_name: "t", input_type: "Text", output_type, raw_output_metric };
  return server.verify(verifyBody(row, messageItem(text)));
}

describe("extractCode", () => {
  it.each([
    ["a fence", "Here:\n```json\n{}\n```\nDone", "{}"],
    ["a fence without an end", "```\n{}", "{}"],
    ["code marks", "x <|begin_code|> \n{}\n<|END_CODE|> y", "{}"],
    ["code marks without an end", "<|BEGIN_CODE|>{}", "{}"],
    ["a fence inside code marks", "<|BEGIN_CODE|>\n```json\n1\n```\n<|END_CODE|>", "1"],
    ["neither", " {} ", "{}"],
    ["a fence in the last line", "a ```json", "a ```json"],
    ["escaped angle brackets", "&lt;a/&gt;", "<a/>"],
    ["an empty thought", "<think>\n\n</think>\n\n{}", "{}"],
  ])("reads %s", (_name, text, code) => {
    expect(extractCode(text, { decode: true })).toBe(code);
  });

  it.each([
    [raw`a\nb\t\x41\u00e9\101`, "a\nb\tAéA"],
    [raw`\d \\ \"`, raw`\d \ "`],
    ["é", "Ã©"],
    [raw`\U0001F600`, "😀"],
    ["a\\\nb", "ab"],
    [raw`\u12`, undefined],
    ["end\\", undefined],
    [raw`\UFFFFFFFF`, undefined],
    ["\ud800", undefined],
  ])("decodes %j like unicode_escape", (text, decoded) => {
    expect(decodeEscapes(text)).toBe(decoded);
  });
});

describe("paths", () => {
  it.each([
    ["a.b", ["a", "b"]],
    ["a[0][1].b", ["a", "[0]", "[1]", "b"]],
    ["`a.b`.c", ["a.b", "c"]],
    ["x`[`y", ["x[y"]],
    [".a..", ["a"]],
    ["csv::a.b", ["csv::a.b"]],
    ["a[0", undefined],
  ])("%s has the steps %j", (path, tokens) => {
    expect(tokenizePath(path)).toEqual(tokens);
  });

  it.each([
    ["a.*.k", true],
    ["a[1].k", false],
    ["a[ 1 ].z", true],
    ["a[-1]", false],
    ["a[*]", false],
    ["@b", true],
    ["b.c", false],
    ["n", true],
    ["toString", false],
    ["a[0", false],
  ])("%s: %s", (path, exists) => {
    expect(pathExists({ a: [{ k: 1 }, { z: 2 }], b: "c", n: null }, path)).toBe(exists);
  });
});

describe("structeval", () => {
  it.each([
    ["an escape inside a string", raw`{"user": {"name": "a\nb \"c\""}}`, ["user.name"], 1, 0],
    ["keys outside ASCII", '{"größe": 1}', ["größe"], 1, 0.2],
    ["JSON that is escaped as a whole", raw`{\"a\": 1,\n\"b\": 2}`, ["a", "b"], 1, 1],
  ])("reads %s", async (_, text, paths, reward, original) => {
    expect((await verify(text, "json", paths)).body.reward).toBe(reward);
    const config = { always_decode_escapes: true };
    expect((await verify(text, "json", paths, config)).body.reward).toBe(original);
  });

  it.each([
    ["json", '{"a": {"b": 1}}', ["a.b", "c"], 0.6],
    ["YAML", "a:\n  b: on", ["a.b"], 1],
    ["yaml", "1: x", ["1"], 0.2],
    ["toml", "[a]\nb = 1979-05-27", ["a.b"], 1],
    ["xml", "<a b='1'><c/></a>", ["a.@b", "a.c", "a.b"], 0.73],
    ["csv", 'x,"y,z"\n1,2', ["csv::y,z", "csv::x", "csv_rows[0].x"], 1],
    ["csv", "only a header", ["csv::only a header"], 1],
    ["json", '{"a": 1}', [], 0.2],
  ])("%s %j with %j earns %d", async (type, text, paths, reward) => {
    expect((await verify(text, type, paths)).body).toMatchObject({
      reward,
      render_score: 1,
      error_type: null,
    });
  });

  it.each([
    ["json", "{}", "parse_error"],
    ["json", "{bad", "parse_error"],
    ["json", "0", "parse_error"],
    ["yaml", "a: 1\n---\nb: 2", "parse_error"],
    ["toml", "a = 1\na = 2", "parse_error"],
    ["html", "<p>", "unsupported_type"],
    ["toString", "x", "unsupported_type"],
    ["json", " ", "empty_response"],
  ])("%s %j is a %s", async (type, text, error_type) => {
    const { body } = await verify(text, type, ["a"]);
    expect(body).toMatchObject({ reward: 0, render_score: 0, key_validation_score: 0, error_type });
  });

  it("counts paths in the text apart from the reward", async () => {
    const { body } = await verify('{"User.Name": 1', "json", ["user.name", "x"]);
    expect(body).toMatchObject({ reward: 0, raw_output_score: 0.5 });
  });

  it("refuses a row whose paths are no list of texts, or cannot be read", async () => {
    expect((await verify("{}", "json", "a")).status).toBe(422);
    const server = await createTestServer(definition);
    const row = { task_id: "1", task_name: "t", input_type: "Text", output_type: "json" };
    const responses_create_params = { input: "?" };
    for (const raw_output_metric of [[], ["a[0"]]) {
      const rows = [{ responses_create_params, ...row, raw_output_metric }];
      expect((await server.post("/check_rows", { rows })).text).toContain("raw_output_metric");
    }
  });

  it.each([
    ["backticks", "`".repeat(1_000_000)],
    ["code marks", "<|BEGIN_CODE|>".repeat(100_000)],
    ["backslashes", "\\".repeat(1_000_001)],
    ["brackets", "[".repeat(300_000)],
  ])("survives %s", async (_name, text) => {
    for (const type of ["json", "yaml", "toml", "xml"]) {
      expect((await verify(text, type, ["a"])).status).toBe(200);
    }
  });
});
