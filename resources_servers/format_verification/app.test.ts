import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const raw = String.raw;

async function verify(text: string, verifier: unknown) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ verifier, unknown: 1 }, messageItem(text)));
}

describe("lines", () => {
  it("counts each line that matches any pattern once", async () => {
    const verifier = {
      type: "regex",
      verify_regex: ["^- ", raw`^\*`, "e$"],
      verify_min_matches: 3,
      pattern_id: "x",
    };
    const { body } = await verify("- one\n* two\nthree\ntwo", verifier);
    expect(body).toMatchObject({
      reward: 1,
      verifier,
      match_details: { matching_lines: 3, min_matches: 3, passed: true },
    });
    expect(body).not.toHaveProperty("unknown");
    expect((await verify("- one", verifier)).body.reward).toBe(0);
  });

  it("uses the regular expressions of Python", async () => {
    const verifier = { type: "inline_prose", verify_regex: [raw`(?i)(?P<mark>\d)\s(?P=mark)`] };
    expect((await verify("٣ ٣", verifier)).body.reward).toBe(1);
  });

  it("requires one line by default, and fails without patterns", async () => {
    expect((await verify("x", { type: "regex" })).body.match_details).toEqual({
      matching_lines: 0,
      min_matches: 1,
      passed: false,
    });
  });
});

describe("markers", () => {
  const verifier = { type: "string_match", expected_markers: ["[1]", "[2]"], patterns: [raw`\[\d\]`] };

  it("requires all markers and no others", async () => {
    expect((await verify("a [1] b [2]", verifier)).body.reward).toBe(1);
    const { body } = await verify("a [1] b [3] [3]", verifier);
    expect(body.match_details).toEqual({
      expected: ["[1]", "[2]"],
      missing: ["[2]"],
      spurious: ["[3]", "[3]"],
      passed: false,
    });
  });
});

describe("bad rows", () => {
  it.each([
    ["type", { type: "other" }],
    ["type", {}],
    ["verify_regex", { type: "regex", verify_regex: ["("] }],
    ["verify_regex", { type: "regex", verify_regex: 5 }],
    ["verify_min_matches", { type: "regex", verify_min_matches: "2" }],
    ["patterns", { type: "string_match", patterns: ["[b-a]"] }],
    ["verifier", 5],
  ])("refuses a row with a bad %s and names it", async (field, verifier) => {
    const { status, text } = await verify("x", verifier);
    expect(status).toBe(422);
    expect(text).toContain(field);
  });
});

describe("hostile answers", () => {
  it.each([
    ["many lines", "\n".repeat(5_000_000)],
    ["a long line", "- ".repeat(500_000)],
    ["a line that explodes", `${"a".repeat(1_000_000)}!`],
    ["markers", "[1]".repeat(300_000)],
  ])("%s", async (_name, text) => {
    for (const verifier of [
      { type: "regex", verify_regex: ["^- x", raw`^(a+)+$`, raw`^\s*[-*•]\s+\S+$`] },
      { type: "string_match", expected_markers: ["[2]"], patterns: [raw`\[\d+\]`] },
    ]) {
      expect((await verify(text, verifier)).body.reward).toBe(0);
    }
  });
});
