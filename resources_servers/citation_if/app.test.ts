import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const valid_id_set = ["citation_1", "citation_2", "citation_3"];

async function verify(verifier: object, ...output: Parameters<typeof verifyBody>[1][]) {
  const server = await createTestServer(definition);
  const row = { verifier: { grammar: "ascii_brackets", valid_id_set, ...verifier } };
  return server.verify(verifyBody(row, ...output));
}

async function gate(text: string, verifier: object = {}): Promise<unknown> {
  const { body } = await verify(verifier, messageItem(text));
  expect(body.reward).toBe(body.match_details.gate_failed === null ? 1 : 0);
  return body.match_details.gate_failed;
}

describe("notations", () => {
  it.each([
    ["cite_xml", "<cite>citation_1</cite>"],
    ["cite_xml", "<cite>citation_1,citation_2</cite>"],
    ["claim_wrap_xml", '<cite index="citation_1,citation_3">two\nlines</cite>'],
    ["ascii_brackets", "[citation_1]"],
    ["fullwidth_brackets", "【citation_1】"],
    ["ref_colon", "[ref:citation_1]"],
    ["double_angle", "<<citation_1>>"],
    ["web_brackets", "[web:citation_1]"],
    ["paren_part", "(citation_1)"],
    ["markdown_footnote", "[^citation_1]"],
    ["curly_double", "{{citation_1}}"],
    ["angle_pipe", "<ref|citation_1>"],
  ])("%s is %s", async (grammar, citation) => {
    expect(await gate(`A fact ${citation}.`, { grammar })).toBeNull();
    expect(await gate(`A fact ${citation} and citation_2.`, { grammar })).toBe("malformed_attempt");
    expect(await gate(`A fact ${citation.replace("_1", "_9")}`, { grammar })).not.toBeNull();
  });

  it.each([
    ["a link", "ascii_brackets", "Fact [citation_1](http://x)"],
    ["a list", "ascii_brackets", "Fact [citation_1,citation_2]"],
    ["a list with spaces", "cite_xml", "Fact <cite>citation_1, citation_2</cite>"],
    ["a tag in capitals", "cite_xml", "Fact <CITE>citation_1</CITE>"],
    ["an empty claim", "claim_wrap_xml", 'Fact <cite index="citation_1"> </cite>'],
    ["a tag too many", "cite_xml", "Fact <cite>citation_1</cite></cite>"],
    ["the id of the instruction", "ascii_brackets", "Fact [citation_xmpl]"],
  ])("refuses %s", async (_name, grammar, text) => {
    expect(await gate(text, { grammar })).toBe("malformed_attempt");
  });
});

describe("gates", () => {
  it.each([
    ["", {}, "structural"],
    ["[citation_1]", {}, "no_answer"],
    ["Fact", {}, "must_cite"],
    ["Fact", { min_valid_citations: 0 }, null],
    ["Fact [citation_1] [citation_1]", { min_valid_citations: 2 }, "must_cite"],
    ["Fact [citation_1] [citation_9]", {}, "no_hallucination"],
    ["Fact [citation_2]", { expected_ids: ["citation_1"] }, "correctness_missed_gold"],
    ["Fact [citation_1] [citation_2]", { expected_ids: ["citation_1"] }, null],
    ["Fact [citation_1] [citation_2] [citation_3]", { expected_ids: ["citation_1"] }, "correctness_over_cap"],
    ["Fact", { mode: "no_cite" }, null],
    ["Fact, see citation_9", { mode: "no_cite" }, "no_cite"],
    ["Fact <cite>", { mode: "no_cite", grammar: "cite_xml" }, "no_cite"],
    ["Fact [citation_1]", { grammar: "toString" }, "unknown_grammar"],
    [
      "Fact [citation_ab:snippet_1]",
      { id_kind: "snippet", id_regex: "citation_(a|b)+:snippet_1" },
      "must_cite",
    ],
  ])("%j with %j fails at %s", async (text, verifier, expected) => {
    expect(await gate(text, verifier)).toBe(expected);
  });

  it("refuses an answer with a tool call", async () => {
    const { body } = await verify({}, messageItem("Fact [citation_1]"), functionCallItem("web_search"));
    expect(body).toMatchObject({ reward: 0, match_details: { gate_failed: "structural", parsed_ids: [] } });
  });

  it("answers every tool call with the same text", async () => {
    const server = await createTestServer(definition);
    expect((await server.tool("web_search", { query: "x" })).body).toContain("No further tool results");
  });
});

describe("bad rows", () => {
  it.each([
    ["verifier", "text"],
    ["min_valid_citations", { min_valid_citations: "x" }],
    ["id_regex", { id_regex: "(" }],
    ["valid_id_set", { valid_id_set: 5 }],
  ])("names %s", async (field, verifier) => {
    const server = await createTestServer(definition);
    const { status, text } = await server.verify(verifyBody({ verifier }, messageItem("x")));
    expect(status).toBe(422);
    expect(text).toContain(field);
  });
});

describe("hostile answers", () => {
  it.each([
    ["open tags", '<cite index="citation_1">'.repeat(40_000)],
    ["brackets", "[citation_1".repeat(200_000)],
    ["ids", "[citation_1] ".repeat(200_000)],
  ])("%s", async (_name, text) => {
    for (const grammar of ["claim_wrap_xml", "cite_xml", "ascii_brackets"]) {
      expect((await verify({ grammar }, messageItem(text))).status).toBe(200);
    }
  });
});
